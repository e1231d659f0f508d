import type { FromProcess, ToWorker, WorkerSettings } from './protocol.ts'
import { ThreadTransport } from './thread-transport.ts'

// The child process of `ProcessTransport`. Its worker thread reads mail; its main thread relays messages and
// stays responsive, so that a child stuck on an endless message still notices when its parent exits.

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

// Not `process.exit`, which waits for the thread.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))

// Ctrl-C in a terminal also reaches this process. The parent still needs it to finish its work.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
