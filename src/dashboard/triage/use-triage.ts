import { type Client, useClient } from 'urql'
import type { Channel } from '../channels/channels.ts'
import { type Failure, failureOf } from '../live/failure.ts'
import { graphql, type VariablesOf } from '../live/graphql.ts'
import { locale } from '../parts/language.ts'
import { say } from '../parts/toast.ts'
import { useViewer } from '../screen/viewer.tsx'
import { ofThread, type Row, THREAD_ROW } from './row.ts'
import { text } from './strings.ts'

const UPDATE = graphql(
  `mutation UpdateThreads($input: UpdateThreadsInput!) { updateThreads(input: $input) { threads { ...ThreadRow } } }`,
  [THREAD_ROW],
)
const BLOCK = graphql(`
  mutation BlockSpammer($input: BlockSenderInput!) { blockSender(input: $input) { access { blocked } } }
`)

/** The API changes this many threads at once. */
const MOST = 100
const SPAM = 'spam'

/** A time of the coming days, as it is said. */
export const moment = new Intl.DateTimeFormat(locale, {
  ...{ weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' },
})

/** A thread that is changed. What is known of it is restored when the change is undone. */
export interface TriageTarget {
  agentId: string
  threadId: string
  doneAt?: string | null
  snoozedUntil?: string | null
  isUnread?: boolean
  labels?: readonly string[]
  channel?: Channel
  /** Who writes in it. */
  senders?: readonly string[]
}

type Change = Omit<VariablesOf<typeof UPDATE>['input'], 'threads'>
type Step = readonly [targets: readonly TriageTarget[], change: Change]

type Listener = (rows: readonly Row[]) => void
const listeners = new Set<Listener>()

/** Calls `listener` with threads that were changed on this page; returns a function that ends this. */
export const onTriaged = (listener: Listener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const tellTriaged = (rows: readonly Row[]): void => {
  for (const listener of [...listeners]) listener(rows)
}

const update = async (client: Client, [targets, change]: Step): Promise<Failure | null> => {
  const unique = new Map(targets.map(({ agentId, threadId }) => [threadId, { agentId, threadId }]))
  const threads = [...unique.values()]
  for (let from = 0; from < threads.length; from += MOST) {
    const input = { ...change, threads: threads.slice(from, from + MOST) }
    const { data, error } = await client.mutation(UPDATE, { input }).toPromise()
    if (!data?.updateThreads) return failureOf(error)
    tellTriaged(data.updateThreads.threads.map(ofThread))
  }
  return null
}

/** Puts threads back to sleep that were asleep. */
const sleepAgain = (targets: readonly TriageTarget[]): Step[] => {
  const times = new Set(targets.flatMap(({ snoozedUntil }) => snoozedUntil ?? []))
  return [...times].map((time) => [
    targets.filter(({ snoozedUntil }) => snoozedUntil === time),
    { snoozedUntil: time },
  ])
}

const unread = (targets: readonly TriageTarget[]) => targets.filter(({ isUnread }) => isUnread)
const withoutLabel = (targets: readonly TriageTarget[], label: string) =>
  targets.filter(({ labels }) => !labels?.includes(label))

const useSteps = () => {
  const client = useClient()
  const run = async (steps: readonly Step[]): Promise<boolean> => {
    for (const step of steps) {
      const failure = step[0].length > 0 ? await update(client, step) : null
      if (!failure) continue
      say({ kind: 'failure', text: failure.message, requestId: failure.requestId })
      return false
    }
    return true
  }
  /** Resolves to whether it was done, which a notice then says that undoes it. */
  return async (step: Step, said: string, undo: readonly Step[], then?: Step): Promise<boolean> => {
    const done = await run(then ? [step, then] : [step])
    if (done)
      say({ kind: 'done', text: said, action: { label: text.undo, keys: 'z', run: () => void run(undo) } })
    return done
  }
}

/** Offers to block who wrote a thread that was marked as spam. */
const useBlock = () => {
  const client = useClient()
  const { may } = useViewer()
  const block = async ({ agentId, channel = 'email' }: TriageTarget, sender: string) => {
    const { error } = await client.mutation(BLOCK, { input: { agentId, channel, sender } }).toPromise()
    const failure = failureOf(error)
    if (failure) say({ kind: 'failure', text: failure.message, requestId: failure.requestId })
    else say({ kind: 'done', text: text.blocked(sender) })
  }
  return (targets: readonly TriageTarget[]) => {
    const [target, ...others] = targets
    const [sender] = target?.senders ?? []
    if (!may.setAccess || !target || !sender || others.length > 0) return
    say({
      kind: 'done',
      text: text.mayBlock(sender),
      action: { label: text.block, run: () => void block(target, sender) },
    })
  }
}

/** What is done with threads, each with a notice that undoes it for 10 seconds. */
export const useTriage = () => {
  const run = useSteps()
  const offerBlock = useBlock()
  const reopened = (targets: readonly TriageTarget[]): Step[] => [
    [targets.filter(({ doneAt }) => !doneAt), { done: false }],
    ...sleepAgain(targets),
    [unread(targets), { read: false }],
  ]
  return {
    /** Nobody needs to look at what is done: it is read as well. */
    done: (targets: readonly TriageTarget[]) =>
      run([targets, { done: true, read: true }], text.wasDone(targets.length), reopened(targets)),
    reopen: (targets: readonly TriageTarget[]) =>
      run([targets, { done: false, snoozedUntil: null }], text.reopened(targets.length), [
        [targets.filter(({ doneAt }) => doneAt), { done: true }],
        ...sleepAgain(targets),
      ]),
    snooze: (targets: readonly TriageTarget[], until: Date) =>
      run(
        [targets, { snoozedUntil: until.toISOString() }],
        text.wasSnoozed(targets.length, moment.format(until)),
        [[targets, { snoozedUntil: null }], ...sleepAgain(targets)],
      ),
    spam: async (targets: readonly TriageTarget[]) => {
      const marked = await run(
        [targets, { done: true, read: true, addLabels: [SPAM] }],
        text.markedSpam(targets.length),
        [[withoutLabel(targets, SPAM), { removeLabels: [SPAM] }], ...reopened(targets)],
      )
      if (marked) offerBlock(targets)
      return marked
    },
    /** Only those of which that is not so already, which undoing it then leaves alone. */
    markRead: (all: readonly TriageTarget[], read: boolean) => {
      const targets = all.filter(({ isUnread = read }) => isUnread === read)
      return run([targets, { read }], text.marked(targets.length), [[targets, { read: !read }]])
    },
    label: (targets: readonly TriageTarget[], label: string) =>
      run([targets, { addLabels: [label] }], text.marked(targets.length), [
        [withoutLabel(targets, label), { removeLabels: [label] }],
      ]),
  }
}
