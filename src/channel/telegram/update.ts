import { z } from 'zod'
import { invalidInput } from '../../core/errors.ts'
import { parseJson } from '../../core/http/json.ts'

/**
 * The part of an update that the service reads, with the Bot API's own names. All else is ignored: Telegram
 * adds fields and kinds of messages all the time.
 */

const user = z.object({
  id: z.int(),
  is_bot: z.boolean().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  username: z.string().optional(),
})
export type User = z.infer<typeof user>

const chat = z.object({ id: z.int(), type: z.string(), title: z.string().optional() })

const file = z.object({
  file_id: z.string(),
  file_size: z.number().optional(),
  file_name: z.string().optional(),
  mime_type: z.string().optional(),
  duration: z.number().optional(),
})
export type FileRef = z.infer<typeof file>

const entity = z.object({
  type: z.string(),
  offset: z.int(),
  length: z.int(),
  url: z.string().optional(),
  user: user.optional(),
})
export type Entity = z.infer<typeof entity>

const location = z.object({ latitude: z.number(), longitude: z.number() })

const origin = z.object({
  sender_user: user.optional(),
  sender_user_name: z.string().optional(),
  sender_chat: chat.optional(),
  chat: chat.optional(),
})

const message = z.object({
  message_id: z.int(),
  message_thread_id: z.int().optional(),
  is_topic_message: z.boolean().optional(),
  is_automatic_forward: z.boolean().optional(),
  date: z.number().optional(),
  // An id that could not be a key makes it a message of its own.
  media_group_id: z.string().min(1).max(200).optional().catch(undefined),
  chat,
  from: user.optional(),
  sender_chat: chat.optional(),
  forward_origin: origin.optional(),
  reply_to_message: z
    .object({
      message_id: z.int(),
      from: user.optional(),
      text: z.string().optional(),
      forum_topic_created: z.unknown().optional(),
    })
    .optional(),
  text: z.string().optional(),
  entities: z.array(entity).optional(),
  caption: z.string().optional(),
  caption_entities: z.array(entity).optional(),
  photo: z.array(file).optional(),
  document: file.optional(),
  animation: file.optional(),
  audio: file.optional(),
  video: file.optional(),
  video_note: file.optional(),
  voice: file.optional(),
  sticker: file
    .extend({
      emoji: z.string().optional(),
      is_animated: z.boolean().optional(),
      is_video: z.boolean().optional(),
    })
    .optional(),
  contact: z
    .object({ phone_number: z.string(), first_name: z.string(), last_name: z.string().optional() })
    .optional(),
  location: location.optional(),
  venue: z.object({ title: z.string(), address: z.string(), location }).optional(),
  poll: z.object({ question: z.string(), options: z.array(z.object({ text: z.string() })) }).optional(),
  dice: z.object({ emoji: z.string(), value: z.number() }).optional(),
  checklist: z.object({ title: z.string(), tasks: z.array(z.object({ text: z.string() })) }).optional(),
  rich_message: z.unknown().optional(),
  story: z.unknown().optional(),
  game: z.unknown().optional(),
  invoice: z.unknown().optional(),
  paid_media: z.unknown().optional(),
})
export type TelegramMessage = z.infer<typeof message>
/** A message, or an album's messages in their order. */
export type Messages = readonly [TelegramMessage, ...TelegramMessage[]]

/** A tap on a button below a message of the bot. */
const tap = z.object({
  id: z.string(),
  from: user,
  message: z.object({ chat }).optional(),
  data: z.string().optional(),
})
export type Tap = z.infer<typeof tap>

const update = z.object({
  update_id: z.int(),
  message: message.optional(),
  callback_query: tap.optional(),
  managed_bot: z.object({ user, bot: user }).optional(),
})
export type TelegramUpdate = z.infer<typeof update>

/** The kinds of updates that are subscribed to: no edits, no channel posts, no reactions. */
export const BOT_UPDATES = ['message', 'callback_query'] as const
export const MANAGER_UPDATES = ['message', 'managed_bot'] as const

/**
 * Limits of a JSON body, whose sender has proved to be Telegram. It nests a message's blocks only a few levels
 * deep; deeper levels are not read.
 */
const SHAPE = { maxLevels: 5_000, maxValues: 100_000, maxNames: 100_000 }

/** Parses a webhook's body. Throws `invalid_input` with the name of the field. */
export const readUpdate = (body: Buffer): TelegramUpdate => {
  const read = update.safeParse(parseJson(body.toString(), 'body', SHAPE))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw invalidInput(issue?.path.join('.') || 'body', 'does not match an update of the Bot API')
}
