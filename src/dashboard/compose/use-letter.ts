import { useRef, useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { readFiles } from './files.ts'
import { inputOf, type Letter } from './letter.ts'

const SEND = graphql(`
  mutation SendMessage($input: SendMessageInput!) {
    sendMessage(input: $input) { message { id threadId hold { reason } } }
  }
`)
const SAVE = graphql(`
  mutation SaveDraft($input: SaveDraftInput!) { saveDraft(input: $input) { draft { id } } }
`)
const SEND_DRAFT = graphql(`
  mutation SendDraft($input: SendDraftInput!) {
    sendDraft(input: $input) { message { id threadId hold { reason } } }
  }
`)

/** What was written and not sent stays until the page is left, also when another thread is opened. */
const unsent = new Map<string, Letter>()

export interface Sent {
  id: string
  threadId: string
  hold: { reason: 'approval' | 'schedule' } | null
}

/**
 * A letter that is being written, and what can be done with it. `place` names where it is written; `draftId` is
 * the draft that it came from.
 */
export const useLetter = (place: string, initial: Letter, draftId: string | null = null) => {
  const [letter, setLetter] = useState(() => unsent.get(place) ?? initial)
  const [problem, setProblem] = useState<string | null>(null)
  const send = useAction(SEND, { quiet: true })
  const save = useAction(SAVE, { quiet: true })
  const sendDraft = useAction(SEND_DRAFT, { quiet: true })
  /** The same letter sent again after a lost answer is sent once: it has the same key. */
  const attempt = useRef({ input: '', key: '' })

  const change = (changes: Partial<Letter>) => {
    const next = { ...letter, ...changes }
    unsent.set(place, next)
    setLetter(next)
    setProblem(null)
  }
  const forget = () => {
    unsent.delete(place)
    setLetter({ ...initial, text: '', files: [], cc: '', sendAt: '' })
  }
  const keyOf = (input: object): string => {
    const written = JSON.stringify(input)
    if (attempt.current.input !== written) attempt.current = { input: written, key: crypto.randomUUID() }
    return attempt.current.key
  }
  const saveDraft = async (): Promise<string | null> => {
    const input = { ...inputOf(letter), ...(draftId === null ? {} : { draftId }) }
    const saved = await save.run({ input }, keyOf(input))
    announce([{ topic: 'drafts' }])
    return saved?.saveDraft?.draft.id ?? null
  }
  const sendIt = async (): Promise<Sent | null> => {
    if (draftId === null) {
      const input = inputOf(letter)
      return (await send.run({ input }, keyOf(input)))?.sendMessage?.message ?? null
    }
    if (!(await saveDraft())) return null
    const { agentId } = letter
    const sent = await sendDraft.run({ input: { agentId, draftId } }, `${keyOf(letter)}-send`)
    announce([{ topic: 'drafts' }])
    return sent?.sendDraft?.message ?? null
  }
  return {
    letter,
    change,
    attach: async (chosen: readonly File[]) => {
      try {
        change({ files: await readFiles(letter.files, chosen) })
      } catch (error) {
        setProblem(error instanceof Error ? error.message : String(error))
      }
    },
    send: async () => {
      const sent = await sendIt()
      if (sent) forget()
      return sent
    },
    save: async () => {
      const saved = await saveDraft()
      if (saved) forget()
      return saved
    },
    busy: send.busy || save.busy || sendDraft.busy,
    problem: problem ?? (send.failure ?? save.failure ?? sendDraft.failure)?.message ?? null,
  }
}
