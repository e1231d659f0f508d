import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useChanges } from '../live/use.ts'
import { readFiles } from './files.ts'
import { type Letter, problemsOf, type Words } from './letter.ts'
import type { Sent } from './service.ts'
import { text } from './strings.ts'
import { writingAt } from './writings.ts'

/** Two presses within this time are one: nothing is sent by a double click. */
const DOUBLE_MS = 700

/**
 * The letter that is written in one place (`parts/kept.ts`), and what can be done with it. `blank` is what it begins
 * with. `objectionTo` says what its writer should know before it is sent; they are told once.
 */
export const useLetter = (
  name: string,
  blank: Words,
  objectionTo: (words: Words) => string | null = () => null,
) => {
  const begun = JSON.stringify(blank)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same as long as it begins with the same words
  const writing = useMemo(() => writingAt(name, blank), [name])
  // biome-ignore lint/correctness/useExhaustiveDependencies: compared by its words
  useEffect(() => writing.begin(blank), [writing, begun])
  const shown = useSyncExternalStore(writing.watch, writing.shown)
  const { letter, draftId } = shown
  const objection = shown.saving === 'none' ? null : objectionTo(letter)
  const [told, setTold] = useState({ objection: '', at: 0 })
  const sentAt = useRef(0)
  useChanges(['drafts'], (changes) => {
    const isOurs = draftId !== null && changes.some(({ ids }) => ids?.includes(draftId))
    if (isOurs || changes.some(({ topic }) => topic === 'all')) void writing.check()
  })
  const refuse = (problems: ReturnType<typeof problemsOf>): null => {
    writing.refuse(problems)
    return null
  }
  return {
    ...shown,
    writing,
    /** What is said before it is sent all the same. */
    objection: objection !== null && told.objection === objection ? objection : null,
    change: (changes: Partial<Letter>) => writing.change(changes),
    attach: async (chosen: readonly File[]): Promise<void> => {
      try {
        writing.change({ files: await readFiles(letter.files, chosen) })
        // Only the service keeps files for certain.
        void writing.save()
      } catch (error) {
        refuse({ text: error instanceof Error ? error.message : String(error) })
      }
    },
    send: async (): Promise<Sent | null> => {
      if (Date.now() - sentAt.current < DOUBLE_MS) return null
      const problems = problemsOf(letter)
      if (Object.keys(problems).length > 0) return refuse(problems)
      if (shown.lost.length > 0) return refuse({ text: text.attachAgain(shown.lost.map((one) => one.name)) })
      if (objection !== null && told.objection !== objection) {
        setTold({ objection, at: Date.now() })
        return null
      }
      if (objection !== null && Date.now() - told.at < DOUBLE_MS) return null
      const sent = await writing.send()
      if (sent) sentAt.current = Date.now()
      return sent
    },
  }
}
