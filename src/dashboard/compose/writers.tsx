import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { graphql } from '../live/graphql.ts'
import { useChanges, useLive } from '../live/use.ts'
import { useNow } from '../parts/time.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { readDraft } from './service.ts'
import { text } from './strings.ts'
import type { useLetter } from './use-letter.ts'

const WRITERS = graphql(`
  query ThreadWriters($id: UUID!) {
    thread(id: $id) { id writers { draftId updatedAt by { kind id name } } }
  }
`)

/** Someone who saved their answer within this time is still writing it. */
const WRITING_MS = 60_000

interface WritersProps {
  threadId: string
  agentId: string
  /** The answer that is written here. */
  letter: ReturnType<typeof useLetter>
}

/** Who else answers a thread. An own answer from another device is taken into the empty field. */
export const Writers = ({ threadId, agentId, letter }: WritersProps) => {
  const { id: self } = useViewer()
  const now = useNow()
  const { data, refresh } = useLive(WRITERS, { id: threadId }, [])
  const { draftId, saving, writing } = letter
  useChanges(['drafts'], (changes) => {
    const isOther = changes.some(
      (one) => one.agentId === agentId && !(one.ids?.length === 1 && one.ids[0] === draftId),
    )
    if (isOther || changes.some(({ topic }) => topic === 'all')) refresh()
  })
  const writers = (data?.thread.writers ?? []).filter((writer) => writer.draftId !== draftId)
  const own = writers.find(({ by }) => by.kind === 'member' && by.id === self)?.draftId
  const taken = useRef<string>(undefined)
  useEffect(() => {
    if (!own || saving !== 'none' || taken.current === own) return
    taken.current = own
    void readDraft(agentId, own).then(({ value }) => value && writing.take(value))
  }, [own, saving, agentId, writing])
  const others = writers.filter(({ by }) => by.id !== self)
  return (
    <div role="status">
      {others.map(({ draftId: draft, by, updatedAt }) => (
        <p key={draft} className="hint">
          {now - Date.parse(updatedAt) < WRITING_MS ? (
            text.isWriting(by.name)
          ) : (
            <>
              {text.hasUnsent(by.name)}{' '}
              <Link href={`/compose?agent=${agentId}&draft=${draft}`}>{text.openDraft}</Link>
            </>
          )}
        </p>
      ))}
    </div>
  )
}
