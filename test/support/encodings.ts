/**
 * Encodes bytes as quoted-printable in lines of at most 76 characters. Line breaks are encoded too, as binary data
 * requires (RFC 2045 6.7 (4)).
 */
export function qp(bytes: Uint8Array, newline = '\r\n'): string {
  let line = ''
  const lines: string[] = []
  for (const byte of bytes) {
    const isPlain = byte > 0x20 && byte < 0x7f && byte !== 0x3d
    line += isPlain ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
    if (line.length < 73) continue
    lines.push(`${line}=`)
    line = ''
  }
  return [...lines, line].join(newline)
}
