import type { FromProcess, ToWorker, WorkerSettings } from './protocol.ts'
import { ThreadTransport } from './thread-transport.ts'

// The process of `ProcessTransport`. A thread of it reads; this one passes on what is said, and answers at
// any time: a child that is busy with one endless message must still notice that its parent is gone.

const { settings, heapMiB } = JSON.parse(process.argv[2]!) as { settings: WorkerSettings; heapMiB: number }

const send = (message: FromProcess, sent?: () => void) => {
  if (process.connected) process.send!(message, undefined, undefined, sent)
}

const thread = new ThreadTransport(settings, heapMiB, {
  message: (message) => send(message),
  ended: (reason) => send({ ...state(), ended: reason }, () => process.exit(1)),
})

const state = (): Extract<FromProcess, { type: 'state' }> => ({
  type: 'state',
  parsing: thread.parsing,
  turns: thread.turns,
})

process.on('message', (message: ToWorker) => {
  thread.post(message)
  if (message.type === 'ping') send(state())
})

// Not `exit`, which waits for the thread.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

// A terminal's Ctrl-C goes to the parent and to us. The parent finishes its work first, for which it needs
// us.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
