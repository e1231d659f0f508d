const uint16 = (value: number) => Buffer.from([value & 0xff, (value >> 8) & 0xff])
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}
const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])

/** Encodes an attribute of the message (level 1) or of the most recently started file (level 2). */
const attribute = (level: number, id: number, data: Buffer) =>
  Buffer.concat([
    Buffer.from([level]),
    uint32(id),
    uint32(data.length),
    data,
    uint16(data.reduce((sum, byte) => (sum + byte) & 0xffff, 0)),
  ])

/** Encodes a property of variable length. */
const property = (type: number, id: number, value: Buffer) =>
  Buffer.concat([uint16(type), uint16(id), uint32(1), uint32(value.length), padded(value)])

const properties = (...all: Buffer[]) => Buffer.concat([uint32(all.length), ...all])

const string8 = (id: number, text: string) => property(0x1e, id, Buffer.from(`${text}\0`, 'latin1'))
const unicode = (id: number, text: string) => property(0x1f, id, Buffer.from(`${text}\0`, 'utf16le'))

export interface TnefParts {
  text?: string
  html?: string
  /** Compressed RTF. */
  rtf?: Buffer
  files?: { name: string; type?: string; content: Buffer; message?: boolean }[]
}

/** Returns a `winmail.dat` file as Outlook generates it. */
export function tnef({ text, html, rtf, files = [] }: TnefParts): Buffer {
  const body = [
    ...(text === undefined ? [] : [string8(0x1000, text)]),
    ...(html === undefined ? [] : [property(0x102, 0x1013, Buffer.from(html))]),
    ...(rtf === undefined ? [] : [property(0x102, 0x1009, rtf)]),
  ]
  const attachments = files.flatMap(({ name, type, content, message = false }) => [
    attribute(2, 0x00069002, Buffer.alloc(14)),
    attribute(2, 0x00018010, Buffer.from(`${name}\0`, 'latin1')),
    ...(message ? [] : [attribute(2, 0x0006800f, content)]),
    attribute(
      2,
      0x00069005,
      properties(
        unicode(0x3707, name),
        ...(type === undefined ? [] : [string8(0x370e, type)]),
        ...(message ? [property(0x0d, 0x3701, Buffer.concat([Buffer.alloc(16), content]))] : []),
      ),
    ),
  ])
  return Buffer.concat([
    uint32(0x223e9f78),
    uint16(1),
    attribute(1, 0x00069003, properties(...body)),
    ...attachments,
  ])
}

/** Wraps RTF in the compressed-RTF format without compressing it. */
export const plainRtf = (rtf: string): Buffer =>
  Buffer.concat([
    uint32(rtf.length + 12),
    uint32(rtf.length),
    Buffer.from('MELA'),
    uint32(0),
    Buffer.from(rtf, 'latin1'),
  ])
