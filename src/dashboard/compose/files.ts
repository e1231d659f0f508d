import { text } from './strings.ts'

export interface AttachedFile {
  name: string
  type: string
  size: number
  /** In base64. */
  content: string
}

/** What the service takes for one message. */
const MOST_BYTES = 10 * 1024 * 1024
const CHUNK = 0x8000

const base64Of = (bytes: Uint8Array): string => {
  const chunks: string[] = []
  for (let at = 0; at < bytes.length; at += CHUNK)
    chunks.push(String.fromCharCode(...bytes.subarray(at, at + CHUNK)))
  return btoa(chunks.join(''))
}

/** Reads the files that were chosen. Throws an error in words when they are too large or can't be read. */
export const readFiles = async (
  known: readonly AttachedFile[],
  chosen: readonly File[],
): Promise<AttachedFile[]> => {
  const bytes = [...known, ...chosen].reduce((sum, { size }) => sum + size, 0)
  if (bytes > MOST_BYTES) throw new Error(text.tooLarge)
  const added = chosen.map(async (file) => {
    const buffer = await file.arrayBuffer().catch(() => {
      throw new Error(text.unreadable(file.name))
    })
    const type = /^[\w.+-]+\/[\w.+-]+/.exec(file.type)?.[0] ?? 'application/octet-stream'
    return { name: file.name, type, size: file.size, content: base64Of(new Uint8Array(buffer)) }
  })
  return [...known, ...(await Promise.all(added))]
}
