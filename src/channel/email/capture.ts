import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Outbound, SendResult } from '../channel.ts'
import type { Departure } from './departure.ts'
import { writePrivate } from './write-private.ts'

/**
 * Writes the message, under the return path that it would have had, to `outboxDir` as `<time>-<message id>.eml` (0600, whole or not at all) in place of sending it. Time and id are the
 * message's own: an attempt that is repeated finds the file and leaves it. Rejects when the disk does.
 */
export async function capture(out: Outbound, { raw, reversePath, recipients }: Departure, outboxDir: string): Promise<SendResult> {
  const time = out.createdAt.toISOString().replace(/:/g, '-')
  const id = out.messageId.replace(/[^\w.@+=-]/g, '_').slice(0, 180)
  const file = join(outboxDir, `${time}-${id}.eml`)
  const there = await access(file).then(
    () => true,
    () => false,
  )
  if (!there) {
    await mkdir(outboxDir, { recursive: true, mode: 0o711 })
    await writePrivate(file, Buffer.concat([Buffer.from(`Return-Path: <${reversePath}>\r\n`), raw]))
  }
  return { accepted: recipients, rejected: [] }
}
