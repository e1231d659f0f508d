import { openSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReceiverLine } from './oracle.ts'
import { seeded } from './seeded.ts'

/**
 * The customer's server, in its own process that can be killed: `receiver.ts FILE PORT SEED`. With the seed 0
 * it accepts everything immediately. Everything is written to FILE before it has an effect on the sender: the
 * start of a POST, its content, and the response before it is sent.
 *
 * The parent can set a trap: it is notified of the next POST before (`before`) or after (`after`) the response,
 * so that it can kill a process between these two steps.
 */
const [file, port, seed] = process.argv.slice(2) as [string, string, string]
const log = openSync(file, 'a')
const { random, below } = seeded(Number(seed))
/** Distinguishes the POSTs of this process from those of earlier ones. */
const life = process.pid
let count = 0
let trap: 'before' | 'after' | null = null

const write = (line: ReceiverLine): void => void writeSync(log, `${JSON.stringify(line)}\n`)

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Usually accepts the POST, sometimes late; rarely fails, or closes the connection without a response. */
const answer = async (response: ServerResponse, n: string): Promise<void> => {
  const mood = seed === '0' ? 0.5 : random()
  if (mood < 0.2) await sleep(below(40))
  if (mood > 0.99) {
    write({ kind: 'answered', n, status: 0 })
    response.destroy()
    return
  }
  const status = mood > 0.98 ? 500 : 204
  write({ kind: 'answered', n, status })
  response.writeHead(status).end()
}

const spring = (when: 'before' | 'after'): boolean => {
  if (trap !== when) return false
  trap = null
  process.send?.('sprung')
  return true
}

const server = createServer(async (request, response) => {
  const n = `${life}.${++count}`
  const path = request.url ?? ''
  write({ kind: 'began', n, path })
  response.on('close', () => write({ kind: 'over', n }))
  try {
    const body = await bodyOf(request)
    write({ kind: 'got', n, headers: request.headers as Record<string, string>, body })
    if (spring('before')) await sleep(below(60)) // while its sender is killed
    await answer(response, n)
    spring('after')
  } catch {
    response.destroy() // the sender is gone
  }
})
server.keepAliveTimeout = 60_000
process.on('message', (message: 'before' | 'after') => {
  trap = message
})
process.on('disconnect', () => process.exit())
server.listen(Number(port), '127.0.0.1', () => process.send?.('up'))
