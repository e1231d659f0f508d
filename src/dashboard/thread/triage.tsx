import { useState } from 'react'
import type { ShownMessage } from '../message/message-fields.ts'
import { IconButton } from '../parts/button.tsx'
import { BanIcon, CheckIcon, ClockIcon, InboxIcon } from '../parts/icons.tsx'
import { SnoozeDialog } from '../triage/snooze.tsx'
import { useTriage } from '../triage/use-triage.ts'
import { text } from './strings.ts'

interface TriagedThread {
  id: string
  agentId: string
  unreadCount: number
  doneAt: string | null
  snoozedUntil: string | null
}

/** What the list needs to know of the open thread to change it, and to undo that. */
const targetOf = (
  { id: threadId, agentId, unreadCount, doneAt, snoozedUntil }: TriagedThread,
  messages: readonly ShownMessage[],
) => {
  const inbound = messages.filter(({ direction }) => direction === 'inbound')
  return {
    ...{ agentId, threadId, doneAt, snoozedUntil, isUnread: unreadCount > 0 },
    labels: [...new Set(messages.flatMap(({ labels }) => labels))],
    senders: [...new Set(inbound.map(({ counterpart }) => counterpart))],
    ...(messages[0] ? { channel: messages[0].channel } : {}),
  }
}

interface TriageOptions {
  thread: TriagedThread
  messages: readonly ShownMessage[]
  /** Goes on after the thread is put away. */
  onNext(): void
}

/** Puts the open thread away: done, until later, or as spam. */
export const useThreadTriage = ({ thread, messages, onNext }: TriageOptions) => {
  const triage = useTriage()
  const [asking, setAsking] = useState(false)
  const targets = [targetOf(thread, messages)]
  const leave = async (change: Promise<boolean>) => {
    if (await change) onNext()
  }
  return {
    isAway: thread.doneAt !== null || thread.snoozedUntil !== null,
    done: () => void leave(triage.done(targets)),
    reopen: () => void triage.reopen(targets),
    spam: () => void leave(triage.spam(targets)),
    asking,
    ask: () => setAsking(true),
    close: () => setAsking(false),
    snooze: (until: Date) => {
      setAsking(false)
      void leave(triage.snooze(targets, until))
    },
  }
}

/** The buttons that put the open thread away. */
export const Triage = ({ triage }: { triage: ReturnType<typeof useThreadTriage> }) => (
  <>
    {triage.isAway ? (
      <IconButton icon={InboxIcon} label={text.reopen} onClick={triage.reopen} />
    ) : (
      <IconButton icon={CheckIcon} label={text.markDone} hint="e" onClick={triage.done} />
    )}
    <IconButton icon={ClockIcon} label={text.snooze} hint="h" onClick={triage.ask} />
    <IconButton icon={BanIcon} label={text.spam} hint="#" onClick={triage.spam} />
    {triage.asking && <SnoozeDialog onSnooze={triage.snooze} onClose={triage.close} />}
  </>
)
