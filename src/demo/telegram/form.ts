/** A part of a form that contains a file. */
export interface FormFile {
  name: string
  type: string
  content: Buffer
}

/** Returns a header parameter, with or without quotation marks around it. */
const parameter = (head: string, name: string): string | undefined => {
  const [, value, quoted] = new RegExp(`[;\\s]${name}=("([^"]*)"|[^;\\s]*)`, 'i').exec(head) ?? []
  return quoted ?? value
}

const partOf = (part: Buffer): [string, string | FormFile] | null => {
  const end = part.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = part.subarray(0, end).toString()
  const content = part.subarray(end + 4, part.length - 2)
  const name = parameter(head, 'name')
  const file = parameter(head, 'filename')
  if (name === undefined) return null
  if (file === undefined) return [name, content.toString()]
  return [
    name,
    { name: file, type: /content-type:\s*(\S+)/i.exec(head)?.[1] ?? 'application/octet-stream', content },
  ]
}

/**
 * Parses a `multipart/form-data` body. Node's own parser rejects the bodies of some clients (grammY among
 * them).
 */
export const readForm = (body: Buffer, contentType: string): Record<string, string | FormFile> => {
  const boundary = `--${/boundary="?([^";]+)"?/i.exec(contentType)?.[1] ?? ''}`
  const form: Record<string, string | FormFile> = {}
  for (let at = body.indexOf(boundary); at >= 0; ) {
    const next = body.indexOf(boundary, at + boundary.length)
    if (next < 0) break
    const part = partOf(body.subarray(at + boundary.length + 2, next))
    if (part) form[part[0]] = part[1]
    at = next
  }
  return form
}
