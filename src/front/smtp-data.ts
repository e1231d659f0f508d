import type { SMTPServerDataStream } from 'smtp-server'
import { Reply } from '../mail/index.ts'
import type { CellSession, SmtpReply } from './smtp-client.ts'

const LOST: SmtpReply = { code: 451, text: 'Temporary failure, try again later' }

/** Passes an installation's refusal on. Its 421 ends its own session, not that of the client. */
export const refusalOf = ({ code, text }: SmtpReply): Reply => new Reply(code === 421 ? 451 : code, text)

/**
 * Returns the words for a mail that every installation has stored. Otherwise rejects with a temporary refusal, if there is one: the
 * sender brings it again, and an installation that has it recognises the copy.
 */
const verdictOf = (replies: readonly SmtpReply[]): string => {
  const refusals = replies.filter(({ code }) => code >= 300)
  const refusal = refusals.find(({ code }) => code < 500) ?? refusals[0]
  if (refusal) throw refusalOf(refusal)
  return replies[0]!.text
}

/**
 * Passes the data of a mail on to all installations while it arrives, as fast as the slowest takes it. Nobody gets the end of a mail
 * that is broken off or longer than `size`.
 */
export const passMail = async (
  stream: SMTPServerDataStream,
  onward: readonly CellSession[],
  size: number,
): Promise<string> => {
  const begun = await Promise.all(onward.map((each) => each.begin().catch(() => ({ refusal: LOST }))))
  const taking = begun.flatMap((each) => ('data' in each ? [each.data] : []))
  const refusals = begun.flatMap((each) => ('refusal' in each ? [each.refusal] : []))
  const drop = () => {
    for (const each of onward) each.destroy()
  }
  if (taking.length === 0) return verdictOf(refusals.length > 0 ? refusals : [LOST])
  let bytes = 0
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      bytes += part.length
      if (bytes > size) drop()
      else await Promise.all(taking.map((data) => data.write(part)))
    }
  } catch {
    drop()
    throw new Reply(421, 'The connection was lost')
  }
  if (bytes > size) throw new Reply(552, `Message is longer than ${size} bytes`)
  const replies = await Promise.all(taking.map((data) => data.end().catch(() => LOST)))
  return verdictOf([...replies, ...refusals])
}
