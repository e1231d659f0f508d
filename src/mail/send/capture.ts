import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Outbound, SendResult } from '../../core/channel/outbound.ts'
import { writePrivate } from '../../core/private-file.ts'
import type { OutgoingMail } from './outgoing-mail.ts'

/** Writes a file, and creates its folder only if there is none: that is rare, and every mail would wait for it. */
const writeInto = async (folder: string, file: string, content: Buffer): Promise<void> => {
  try {
    await writePrivate(file, content)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await mkdir(folder, { recursive: true, mode: 0o711 })
    await writePrivate(file, content)
  }
}

/**
 * Writes the message to `outboxDir` as `<time>-<message id>.eml` (0600, atomically) instead of sending it.
 * The file begins with the return paths of its recipients, one line each. Time and id are those of the
 * message, so that a repeated attempt finds the file and leaves it unchanged. Rejects if writing fails.
 */
export async function capture(
  out: Outbound,
  { raw, envelopes }: OutgoingMail,
  outboxDir: string,
): Promise<SendResult> {
  const time = out.createdAt.toISOString().replace(/:/g, '-')
  const id = out.messageId.replace(/[^\w.@+=-]/g, '_').slice(0, 180)
  const file = join(outboxDir, `${time}-${id}.eml`)
  if (!existsSync(file)) {
    const lines = [...new Set(envelopes.map(({ reversePath }) => `Return-Path: <${reversePath}>\r\n`))]
    await writeInto(outboxDir, file, Buffer.concat([Buffer.from(lines.join('')), raw]))
  }
  return { accepted: envelopes.map(({ recipient }) => recipient), rejected: [] }
}
