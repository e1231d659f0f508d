import { useState, useSyncExternalStore } from 'react'
import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction, useChanges, useLive } from '../live/use.ts'
import { dropKept, type Kept, keep, keptOf, readKept } from '../parts/kept.ts'
import { say } from '../parts/toast.ts'
import { useViewer } from '../screen/viewer.tsx'
import type { HeldMessage } from './queries.ts'
import { text } from './strings.ts'

export const APPROVE = graphql(`
  mutation ApproveMessage($input: ApproveMessageInput!) { approveMessage(input: $input) { message { id status } } }
`)
export const REJECT = graphql(`
  mutation RejectMessage($input: RejectMessageInput!) { rejectMessage(input: $input) { message { id status } } }
`)
const STATE = graphql(`
  query DecisionState($id: UUID!) { message(id: $id) { id status error hold { reason until by } } }
`)

export interface Edit {
  subject?: string
  text?: string
}

/** Approving and rejecting. If somebody else was first, the API says who. */
export const useDecision = ({ id, agent }: HeldMessage, onDecided: () => void) => {
  const viewer = useViewer()
  const approval = useAction(APPROVE)
  const rejection = useAction(REJECT)
  const ids = { agentId: agent.id, messageId: id }
  const told = (done: object | null, words: string): boolean => {
    announce([{ topic: 'messages', agentId: agent.id, ids: [id] }])
    if (!done) return false
    dropKept(keptOf(viewer, 'edit', id))
    say({ kind: 'done', text: words })
    onDecided()
    return true
  }
  return {
    approve: async (edit: Edit = {}) =>
      told(await approval.run({ input: { ...ids, ...edit } }), text.approved),
    reject: async (reason: string) =>
      told(await rejection.run({ input: { ...ids, reason: reason.trim() || null } }), text.rejected),
    busy: approval.busy || rejection.busy,
  }
}

/** What became of a message while a member writes about it; null while it still waits. */
export const useOutcome = (id: string): string | null => {
  const { data, failure, refresh } = useLive(STATE, { id }, [])
  useChanges(['messages'], (changes) => {
    if (changes.some(({ topic, ids }) => topic === 'all' || (topic === 'messages' && ids?.includes(id))))
      refresh()
  })
  if (failure?.code === 'not_found') return text.gone
  const message = data?.message
  if (!message || (message.status === 'sending' && message.hold?.until && message.hold.reason === 'approval'))
    return null
  return message.error ?? text.decidedBy(message.hold?.by ?? text.somebody)
}

interface KeptEdit extends Kept {
  subject: string
  text: string
}

/** The edit of a held message, kept on this device: a message that waits for approval cannot be a draft. */
export const useKeptEdit = (message: HeldMessage) => {
  const name = keptOf(useViewer(), 'edit', message.id)
  const original = { subject: message.subject ?? '', text: message.text }
  const [before] = useState(() => readKept<KeptEdit>(name))
  const [fields, setFields] = useState<{ subject: string; text: string }>(before ?? original)
  const change = (changes: Edit) => {
    const next = { ...fields, ...changes }
    setFields(next)
    keep(name, { ...next, at: Date.now() })
  }
  const reset = () => {
    setFields(original)
    dropKept(name)
  }
  const edit: Edit = {
    ...(fields.subject === original.subject ? {} : { subject: fields.subject }),
    ...(fields.text === original.text ? {} : { text: fields.text }),
  }
  return { fields, change, reset, edit, isEdited: Object.keys(edit).length > 0, forget: () => dropKept(name) }
}

/** A form about one message. It stands above the list, which may lose the message meanwhile. */
export interface Opened {
  form: 'edit' | 'reject'
  message: HeldMessage
  onDecided(): void
}

let opened: Opened | null = null
const watchers = new Set<() => void>()

export const openForm = (next: Opened | null): void => {
  opened = next
  for (const watcher of watchers) watcher()
}

const watch = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useOpened = (): Opened | null => useSyncExternalStore(watch, () => opened)
