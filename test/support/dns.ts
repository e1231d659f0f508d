import { createSocket } from 'node:dgram'
import { type AddressInfo, createServer } from 'node:net'
import type { DnsResolver } from '../../src/mail/verify/resolver.ts'

/**
 * Records of a name by type. A TXT record longer than 255 bytes is split on the wire and joined again by
 * Node.
 */
export interface DnsRecords {
  A?: string[]
  AAAA?: string[]
  TXT?: string[]
  MX?: { priority: number; exchange: string }[]
  PTR?: string[]
}
/** Maps lower-case names to their records. Tests may change a zone while a server uses it. */
export type Zone = Record<string, DnsRecords>

const TYPES: Record<number, keyof DnsRecords> = { 1: 'A', 12: 'PTR', 15: 'MX', 16: 'TXT', 28: 'AAAA' }

/**
 * Resolves names from `zone` as node:dns does; rejects with ENOTFOUND for an unknown name and with ENODATA
 * for a missing type.
 */
export function fakeResolver(zone: Zone): DnsResolver {
  return async (name, type) => {
    const records = zone[name.toLowerCase()]
    if (records === undefined)
      throw Object.assign(new Error(`query${type} ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
    const found = records[type as keyof DnsRecords]
    if (found === undefined || found.length === 0)
      throw Object.assign(new Error(`query${type} ENODATA ${name}`), { code: 'ENODATA' })
    return (type === 'TXT' ? (found as string[]).map((text) => [text]) : found) as string[][]
  }
}

export interface DnsServer {
  /** `host:port`, the format of DNS_SERVERS. */
  readonly address: string
  stop(): Promise<void>
}

/**
 * Starts a real name server for `zone` over UDP and TCP on a free loopback port. Names that the zone lacks are answered
 * after `unknownMs`.
 */
export async function startDns(zone: Zone, unknownMs = 0): Promise<DnsServer> {
  const udp = createSocket('udp4')
  udp.on('message', (query, peer) => {
    const answer = reply(query, zone)
    if (answer === null) return
    // Over 512 bytes: truncated, with TC set, so that the client retries over TCP (RFC 1035 4.2.1).
    if (answer.length > 512) answer.writeUInt16BE(answer.readUInt16BE(2) | 0x0200, 2)
    const send = () => udp.send(answer.length > 512 ? truncated(answer) : answer, peer.port, peer.address)
    if (unknownMs === 0 || zone[readName(query)]) send()
    else setTimeout(send, unknownMs).unref()
  })
  const tcp = createServer((socket) => {
    let pending = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0)
        const answer = reply(pending.subarray(2, end), zone)
        pending = pending.subarray(end)
        if (answer !== null) socket.write(Buffer.concat([uint16(answer.length), answer]))
      }
    })
  })
  // TCP chooses the port, because far more TCP ports than UDP ports are in use.
  await new Promise<void>((resolve, reject) => tcp.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = tcp.address() as AddressInfo
  await new Promise<void>((resolve, reject) => udp.once('error', reject).bind(port, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${port}`,
    async stop() {
      await new Promise<void>((resolve) => udp.close(() => resolve()))
      await new Promise<void>((resolve) => tcp.close(() => resolve()))
    },
  }
}

const HEADER = 12
const uint16 = (value: number) => Buffer.from([value >> 8, value & 0xff])

/** Returns the header and the question only. */
const truncated = (answer: Buffer): Buffer => {
  const cut = Buffer.from(answer.subarray(0, questionEnd(answer)))
  cut.writeUInt16BE(0, 6)
  return cut
}

/** Returns the reply to one query, or null when the message is not a query with exactly one question. */
function reply(query: Buffer, zone: Zone): Buffer | null {
  if (query.length < HEADER + 5 || query.readUInt16BE(4) !== 1) return null
  const end = questionEnd(query)
  if (end > query.length) return null
  const records = zone[readName(query)]
  const type = TYPES[query.readUInt16BE(end - 4)]
  const data = type === undefined ? [] : (records?.[type] ?? []).map((record) => encode(type, record))
  // QR, AA, RD and RA; RCODE 3 is NXDOMAIN.
  const flags = 0x8580 | (records === undefined ? 3 : 0)
  const header = [query.subarray(0, 2), uint16(flags), uint16(1), uint16(data.length), uint16(0), uint16(0)]
  // 0xc00c points to the question's name; class IN, 60 seconds.
  const answers = data.flatMap((bytes) => [
    uint16(0xc00c),
    query.subarray(end - 4, end),
    Buffer.from([0, 0, 0, 60]),
    uint16(bytes.length),
    bytes,
  ])
  return Buffer.concat([...header, query.subarray(HEADER, end), ...answers])
}

function questionEnd(message: Buffer): number {
  let at = HEADER
  while (at < message.length && message[at] !== 0) at += message[at]! + 1
  return at + 5
}

function readName(message: Buffer): string {
  const labels: string[] = []
  for (let at = HEADER; message[at] !== 0 && at < message.length; at += message[at]! + 1) {
    labels.push(message.toString('latin1', at + 1, at + 1 + message[at]!))
  }
  return labels.join('.').toLowerCase()
}

const writeName = (name: string) =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ])

function encode(type: keyof DnsRecords, record: string | { priority: number; exchange: string }): Buffer {
  if (typeof record !== 'string') return Buffer.concat([uint16(record.priority), writeName(record.exchange)])
  if (type === 'A') return Buffer.from(record.split('.').map(Number))
  if (type === 'AAAA') return ipv6(record)
  if (type === 'PTR') return writeName(record)
  const strings = Buffer.from(record)
    .toString('latin1')
    .match(/[\s\S]{1,255}/g) ?? ['']
  return Buffer.concat(strings.flatMap((part) => [Buffer.from([part.length]), Buffer.from(part, 'latin1')]))
}

function ipv6(address: string): Buffer {
  const [head = '', tail] = address.split('::')
  const groups = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const right = tail === undefined ? [] : groups(tail)
  const left = groups(head)
  return Buffer.concat(
    [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right].map(uint16),
  )
}
