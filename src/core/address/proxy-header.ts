import type { Socket } from 'node:net'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { readAddress } from './source.ts'

/**
 * The PROXY protocol (haproxy's proxy-protocol.txt), version 2 and 1: what a proxy sends before all else, to say who has
 * connected to it. Only a proxy that is trusted may say so.
 */

export interface ProxiedClient {
  address: string
  port: number
}

/** A header: how many bytes it has, and the client; null if the proxy speaks for itself or does not know. */
interface ProxyHeader {
  size: number
  client: ProxiedClient | null
}

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
/** Signature, version and command, family, length of the rest. */
const FIXED = 16
/** Addresses take at most 36 bytes; what follows them is skipped. */
const MAX_REST = 2_048
const VERSION = 2
const COMMANDS = { local: 0, proxy: 1 }
/** TCP over IPv4 and IPv6, with the length of an address. No family: the proxy does not know. */
const ADDRESS_BYTES: Partial<Record<number, 4 | 16>> = { 17: 4, 33: 16 }
const UNKNOWN_FAMILY = 0

const clientOf = (family: number, rest: Buffer): ProxiedClient | 'broken' => {
  const length = ADDRESS_BYTES[family]
  if (length === undefined || rest.length < 2 * length + 4) return 'broken'
  const address = ipaddr.process(ipaddr.fromByteArray([...rest.subarray(0, length)]).toString()).toString()
  return { address, port: rest.readUInt16BE(2 * length) }
}

const binaryHeader = (bytes: Buffer): ProxyHeader | 'broken' | 'more' => {
  if (bytes.length < FIXED) return 'more'
  const [version, command, family] = [bytes[12]! >> 4, bytes[12]! & 0xf, bytes[13]!]
  const size = FIXED + bytes.readUInt16BE(14)
  if (version !== VERSION || command > COMMANDS.proxy || size > FIXED + MAX_REST) return 'broken'
  if (bytes.length < size) return 'more'
  if (command === COMMANDS.local || family === UNKNOWN_FAMILY) return { size, client: null }
  const client = clientOf(family, bytes.subarray(FIXED, size))
  return client === 'broken' ? client : { size, client }
}

const WORD = Buffer.from('PROXY ', 'latin1')
const MAX_LINE = 107
const LINE = /^PROXY (?:UNKNOWN(?: [^\r\n]*)?|TCP([46]) (\S+) \S+ (\d{1,5}) \d{1,5})\r\n/

const lineHeader = (bytes: Buffer): ProxyHeader | 'broken' | 'more' => {
  const text = bytes.toString('latin1', 0, MAX_LINE)
  const [line, version, address = '', port] = LINE.exec(text) ?? []
  if (line === undefined) return bytes.length < MAX_LINE && !text.includes('\n') ? 'more' : 'broken'
  if (version === undefined) return { size: line.length, client: null }
  const client = isIP(address) === Number(version) ? readAddress(address) : null
  if (client === null) return 'broken'
  return { size: line.length, client: { address: client.toString(), port: Number(port) } }
}

const begins = (bytes: Buffer, word: Buffer): boolean =>
  bytes.subarray(0, word.length).equals(word.subarray(0, bytes.length))

/** Returns the header that a connection begins with. `more`: it may be one, of which bytes are missing. */
export const proxyHeaderOf = (bytes: Buffer): ProxyHeader | 'broken' | 'more' | 'none' => {
  if (bytes.length === 0) return 'more'
  if (begins(bytes, SIGNATURE)) return binaryHeader(bytes)
  return begins(bytes, WORD) ? lineHeader(bytes) : 'none'
}

/** Returns the header (version 2) with which a proxy says who has connected to it. Its own address is nobody's concern. */
export const proxyHeader = ({ address, port }: ProxiedClient): Buffer => {
  const client = readAddress(address)?.toByteArray() ?? []
  const family = Object.keys(ADDRESS_BYTES).find((each) => ADDRESS_BYTES[Number(each)] === client.length)
  const rest = family === undefined ? [] : [...client, ...client.map(() => 0), port >> 8, port & 0xff, 0, 0]
  const command = (VERSION << 4) | (family === undefined ? COMMANDS.local : COMMANDS.proxy)
  return Buffer.from([
    ...SIGNATURE,
    command,
    Number(family ?? UNKNOWN_FAMILY),
    rest.length >> 8,
    rest.length & 0xff,
    ...rest,
  ])
}

/**
 * Takes the header of a trusted proxy off a connection, before anybody else has read from it. Resolves with the client
 * that it names; null if it names none, or if there is no header: then nothing is taken. Rejects if a header is broken,
 * not complete within `waitMs`, or never to come: whoever listens next would not hear of the end.
 */
export const takeProxyHeader = (socket: Socket, waitMs: number): Promise<ProxiedClient | null> =>
  new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0)
    const end = (settle: () => void): void => {
      clearTimeout(timer)
      socket.off('readable', read).off('end', broken).off('close', broken).off('error', broken)
      settle()
    }
    const broken = () => end(() => reject(new Error('broken PROXY header')))
    const pass = (rest: Buffer, client: ProxiedClient | null) =>
      end(() => {
        if (rest.length > 0) socket.unshift(rest)
        resolve(client)
      })
    const read = (): void => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read())
        bytes = Buffer.concat([bytes, chunk])
      const header = proxyHeaderOf(bytes)
      if (header === 'none') pass(bytes, null)
      else if (header === 'broken') broken()
      else if (header !== 'more') pass(bytes.subarray(header.size), header.client)
    }
    const timer = setTimeout(() => (bytes.length === 0 ? pass(bytes, null) : broken()), waitMs)
    socket.on('readable', read).once('end', broken).once('close', broken).once('error', broken)
  })
