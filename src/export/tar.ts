/** One file of an archive. */
export interface ArchiveFile {
  /** Of ASCII letters, digits and `/_.-`: a folder of at most 155 characters and a name of at most 100. */
  path: string
  content: Uint8Array
}

const BLOCK = 512

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`

/** Returns the header of a file (POSIX ustar). */
const headerOf = ({ path, content }: ArchiveFile, modifiedAt: Date): Buffer => {
  const header = Buffer.alloc(BLOCK)
  const slash = path.length > 100 ? path.lastIndexOf('/') : -1
  header.write(path.slice(slash + 1), 0, 100, 'ascii')
  header.write(octal(0o600, 8) + octal(0, 8) + octal(0, 8), 100, 'ascii') // mode, user, group
  header.write(octal(content.length, 12) + octal(Math.floor(modifiedAt.getTime() / 1000), 12), 124, 'ascii')
  header.write('        0', 148, 'ascii') // the checksum counts as spaces; a regular file
  header.write('ustar\x0000', 257, 'ascii')
  if (slash > 0) header.write(path.slice(0, slash), 345, 155, 'ascii')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'ascii')
  return header
}

/** Writes files into a tar archive as it is read: only the present file is in memory. */
export async function* archive(files: AsyncIterable<ArchiveFile>, now: Date): AsyncGenerator<Uint8Array> {
  for await (const file of files) {
    yield headerOf(file, now)
    if (file.content.length > 0) yield file.content
    const rest = file.content.length % BLOCK
    if (rest > 0) yield Buffer.alloc(BLOCK - rest)
  }
  yield Buffer.alloc(2 * BLOCK)
}
