import { openSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReceiverLine } from './oracle.ts'
import { seeded } from './seeded.ts'

/**
 * The customer's server, in a process of its own that may be killed: `receiver.ts FILE PORT SEED`; with the
 * seed 0 it takes everything at once. Whatever happens to it is in FILE before it has any effect on the other
 * side: a POST when it begins to arrive, its content, and the answer before the answer is given.
 *
 * The parent may ask for a trap: the next POST is told of before (`before`) or after (`after`) it is
 * answered, so that the parent can kill somebody between these two steps.
 */
const [file, port, seed] = process.argv.slice(2) as [string, string, string]
const log = openSync(file, 'a')
const { random, below } = seeded(Number(seed))
/** Distinguishes this life's POSTs from those of earlier ones. */
const life = process.pid
let count = 0
let trap: 'before' | 'after' | null = null

const write = (line: ReceiverLine): void => void writeSync(log, `${JSON.stringify(line)}\n`)

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Mostly it takes it, soon or later; now and then it fails, or hangs up without an answer. */
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
    if (spring('before')) await sleep(below(60)) // while whoever posts it is killed
    await answer(response, n)
    spring('after')
  } catch {
    response.destroy() // the other side is gone
  }
})
server.keepAliveTimeout = 60_000
process.on('message', (message: 'before' | 'after') => {
  trap = message
})
process.on('disconnect', () => process.exit())
server.listen(Number(port), '127.0.0.1', () => process.send?.('up'))
