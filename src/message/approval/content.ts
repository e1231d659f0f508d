import type { Channel, Channels } from '../../channel/channel.ts'
import type { ChannelKind } from '../../core/channels.ts'
import { invalidInput } from '../../core/errors.ts'
import { codePoints } from '../../core/rules.ts'
import { html as markup } from '../../core/text/html.ts'
import { withoutInvisible } from '../../core/text/invisible.ts'
import type { Message } from '../../db/generated/prisma/client.ts'

/** The content of a message: its text, and HTML if it has some. */
export interface Content {
  text: string
  html: string | null
}

/** Throws `invalid_input` for a text that is too long for the channel. */
export const ensureFits = ({ kind, limits }: Pick<Channel, 'kind' | 'limits'>, text: string): void => {
  if (codePoints(text) > limits.text)
    throw invalidInput('text', `must be at most ${limits.text} characters long on the ${kind} channel`)
}

/**
 * Returns the content as it is sent: the HTML sanitized, a text made from it if none is given, and nothing in
 * either that its readers do not see. Throws `invalid_input` when the channel does not support HTML, and when there is no text in it.
 */
export const contentOf = async (
  channel: Channel,
  { text, html }: { text?: string | undefined; html?: string | undefined },
  source: string,
): Promise<Content> => {
  if (html === undefined) return { text: withoutInvisible(text ?? ''), html: null }
  if (!channel.prepareHtml) throw invalidInput('html', `the ${channel.kind} channel does not support HTML`)
  const prepared = await channel.prepareHtml(html, source)
  if (text === undefined && prepared.text === '')
    throw invalidInput('html', 'contains no text to make the plain part from: give the text too')
  return { text: withoutInvisible(text ?? prepared.text), html: prepared.html }
}

/** Adds the message that is forwarded. */
export const withQuoted = ({ text, html }: Content, quoted: string | null): Content =>
  quoted === null
    ? { text, html }
    : {
        text: `${text}\n\n${quoted}`,
        html:
          html &&
          `${html}\n${markup`<hr><pre style="white-space: pre-wrap; font: inherit">${quoted}</pre>`.text}`,
      }

/** Returns the text that a reader of a message's HTML sees; null for a message without HTML. */
export const htmlTextOf = async (
  channels: Channels,
  { channel, html, agentId }: Pick<Message, 'channel' | 'html' | 'agentId'>,
): Promise<string | null> => {
  const { prepareHtml } = channels[channel as ChannelKind] ?? {}
  return html === null || !prepareHtml ? null : (await prepareHtml(html, agentId)).text
}

const IMAGE = /\s(?:src|background)="(https:[^"]{0,2000})"|url\((?:"|&#x22;)(https:.{0,2000}?)(?:"|&#x22;)\)/g

/** Returns the URLs of the images that the HTML of a message loads from other servers. */
export const imagesOf = ({ html }: Pick<Message, 'html'>): string[] => [
  ...new Set([...(html ?? '').matchAll(IMAGE)].map(([, written, styled = '']) => written ?? styled)),
]
