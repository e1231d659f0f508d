import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { type Answer, type DecodedPacket, decode, encode, type Question, RECURSION_DESIRED } from 'dns-packet'

/** The second try takes twice as long, as with other names. */
const TIMEOUTS_MS = [1_500, 3_000]
const CODES: Readonly<Record<string, string>> = { NXDOMAIN: 'ENOTFOUND', NOERROR: 'ENODATA' }

/**
 * Looks up names that c-ares, the resolver of Node, refuses because they are no host names
 * (`prvs=1=ann._spf.example.com`). `servers` are written as c-ares writes them: `host`, `host:port`, `[host]:port`.
 * Asks over UDP only: such a name has an address or a short text.
 */
export const unusualNameResolver =
  (servers: () => readonly string[]) =>
  async (name: string, type: string): Promise<string[] | string[][]> => {
    const question = { name, type: type as Question['type'] }
    for (const timeoutMs of TIMEOUTS_MS)
      for (const server of servers()) {
        const packet = await ask(server, question, timeoutMs).catch(() => null)
        if (packet !== null) return recordsOf(packet, question)
      }
    throw failure('ETIMEOUT', question)
  }

const failure = (code: string, { name, type }: Question) =>
  Object.assign(new Error(`query${type} ${code} ${name}`), { code })

/** Asks from a random port with a random id, and takes only this server's answer to this question. */
async function ask(server: string, question: Question, timeoutMs: number): Promise<DecodedPacket> {
  const [, host = server, port = '53'] = /^\[?([^[\]]+?)\]?:(\d+)$/.exec(isIPv6(server) ? '' : server) ?? []
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  const id = randomInt(65_536)
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<DecodedPacket>((resolve, reject) => {
      timer = setTimeout(() => reject(failure('ETIMEOUT', question)), timeoutMs)
      socket.on('error', reject)
      socket.on('message', (bytes) => {
        const packet = answerIn(bytes, id, question)
        if (packet !== null) resolve(packet)
      })
      const query = encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [question] })
      // Once connected, the socket takes nothing from others.
      socket.connect(Number(port), host, () => socket.send(query))
    })
  } finally {
    clearTimeout(timer)
    socket.close()
  }
}

function answerIn(bytes: Buffer, id: number, { name, type }: Question): DecodedPacket | null {
  try {
    const packet = decode(bytes)
    const asked = packet.questions?.[0]
    const isOurs = asked?.name.toLowerCase() === name.toLowerCase() && asked.type === type
    return packet.type === 'response' && packet.id === id && isOurs && !packet.flag_tc ? packet : null
  } catch {
    return null
  }
}

/** The records as node:dns returns them. */
function recordsOf(packet: DecodedPacket, question: Question): string[] | string[][] {
  const answers = (packet.answers ?? []).filter(({ type }) => type === question.type)
  if (answers.length === 0) {
    const { rcode = 'NOERROR' } = packet as { rcode?: string }
    throw failure(CODES[rcode] ?? `E${rcode}`, question)
  }
  return answers.map(dataOf) as string[] | string[][]
}

function dataOf(answer: Answer): unknown {
  if (answer.type === 'MX') return { priority: answer.data.preference, exchange: answer.data.exchange }
  if (answer.type !== 'TXT') return 'data' in answer ? answer.data : ''
  return [answer.data].flat().map((text) => (typeof text === 'string' ? text : text.toString('latin1')))
}
