import type { SMTPServerDataStream } from 'smtp-server'
import { Reply } from '../mail/index.ts'
import type { CellSession, SmtpReply } from './smtp-client.ts'

const LOST: SmtpReply = { code: 451, text: 'Temporary failure, try again later' }
const lost = () => LOST

/** The reply to the client for an installation's refusal. An installation's 421 ends its own session, not that of the client. */
export const refusalOf = ({ code, text }: SmtpReply): Reply => new Reply(code === 421 ? 451 : code, text)

/**
 * Returns the text of the reply to a message that every installation has stored. Otherwise throws a refusal, a temporary one if there
 * is any: the sender tries again, and an installation that has the message recognises the copy.
 */
const conclude = (replies: readonly SmtpReply[]): string => {
  const refusals = replies.filter(({ code }) => code >= 300)
  const refusal = refusals.find(({ code }) => code < 500) ?? refusals[0]
  if (refusal) throw refusalOf(refusal)
  return replies[0]!.text
}

/**
 * Forwards a message to all installations while it arrives, as fast as the slowest takes it. None of them gets the end of a message
 * that is broken off or longer than `size`.
 */
export const forwardMessage = async (
  stream: SMTPServerDataStream,
  upstream: readonly CellSession[],
  size: number,
): Promise<string> => {
  const begun = await Promise.all(upstream.map((each) => each.begin().catch(lost)))
  const taking = upstream.filter((_, at) => begun[at]!.code === 354)
  const refusals = begun.filter(({ code }) => code !== 354)
  if (taking.length === 0) return conclude(refusals.length > 0 ? refusals : [LOST])
  const drop = () => {
    for (const each of upstream) each.destroy()
  }
  let bytes = 0
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      bytes += part.length
      if (bytes > size) drop()
      else await Promise.all(taking.map((each) => each.write(part)))
    }
  } catch {
    drop()
    throw new Reply(421, 'The connection was lost')
  }
  if (bytes > size) throw new Reply(552, `Message is longer than ${size} bytes`)
  const replies = await Promise.all(taking.map((each) => each.end().catch(lost)))
  return conclude([...replies, ...refusals])
}
