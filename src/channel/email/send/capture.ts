import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from '../../../core/private-file.ts'
import type { Outbound, SendResult } from '../../outbound.ts'
import type { OutgoingMail } from './outgoing-mail.ts'

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
  const exists = await access(file).then(
    () => true,
    () => false,
  )
  if (!exists) {
    await mkdir(outboxDir, { recursive: true, mode: 0o711 })
    const lines = [...new Set(envelopes.map(({ reversePath }) => `Return-Path: <${reversePath}>\r\n`))]
    await writePrivate(file, Buffer.concat([Buffer.from(lines.join('')), raw]))
  }
  return { accepted: envelopes.map(({ recipient }) => recipient), rejected: [] }
}
