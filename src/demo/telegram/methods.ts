import type { Chat, Update } from '@grammyjs/types'
import type { FormFile } from './form.ts'
import type { StandInBot, World } from './world.ts'

/** An error response of the Bot API. */
export class Refusal extends Error {
  readonly code: number
  readonly parameters: object | undefined

  constructor(code: number, description: string, parameters?: object) {
    super(description)
    this.code = code
    this.parameters = parameters
  }
}

export type Arguments = Record<string, unknown>
type Call = (world: World, bot: StandInBot, args: Arguments) => unknown

const bad = (what: string) => new Refusal(400, `Bad Request: ${what}`)
const integer = (value: unknown): number | undefined =>
  value === undefined || value === '' ? undefined : Number(value)

/** In forms and queries Telegram accepts objects encoded as JSON, in JSON bodies as they are. */
const object = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'string'
    ? (JSON.parse(value) as Record<string, unknown>)
    : (value as Record<string, unknown> | undefined)

const chatFor = (world: World, bot: StandInBot, args: Arguments): Chat => {
  const id = integer(args.chat_id)
  if (id === undefined || Number.isNaN(id)) throw bad('chat_id is empty')
  if (bot.blockedBy.has(id)) throw new Refusal(403, 'Forbidden: bot was blocked by the user')
  if (bot.chats.has(id)) return [...world.messages.values()].find((message) => message.chat.id === id)!.chat
  throw bad('chat not found')
}

const answered = (world: World, chat: Chat, args: Arguments): object => {
  const reply = object(args.reply_parameters)
  if (!reply) return {}
  const original = world.messages.get(`${chat.id}/${reply.message_id}`)
  if (original) return { reply_to_message: { ...original, reply_to_message: undefined } }
  if (reply.allow_sending_without_reply) return {}
  throw bad('message to be replied not found')
}

const inTopic = (args: Arguments): object => {
  const topic = integer(args.message_thread_id)
  return topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true }
}

const sendMessage: Call = (world, bot, args) => {
  const text = String(args.text ?? '').trim()
  const chat = chatFor(world, bot, args)
  if (text === '') throw bad('message text is empty')
  if (text.length > 4096) throw bad('message is too long')
  const keyboard = object(args.reply_markup)
  const message = world.write(chat, bot.user, {
    ...inTopic(args),
    ...answered(world, chat, args),
    text,
    ...(keyboard ? { reply_markup: keyboard } : {}),
  })
  world.sent.push({ bot, message, file: null })
  return message
}

const answerCallbackQuery: Call = (world, _bot, args) => {
  world.notices.push(String(args.text ?? ''))
  return true
}

const sendDocument: Call = (world, bot, args) => {
  const chat = chatFor(world, bot, args)
  const document = args.document as FormFile | undefined
  if (!Buffer.isBuffer(document?.content)) throw bad('there is no document in the request')
  const { name, type, content } = document
  if (content.length === 0) throw bad('file must be non-empty')
  const file = world.file(name, content)
  const described = { ...file, file_name: name, mime_type: type }
  const message = world.write(chat, bot.user, {
    ...inTopic(args),
    ...answered(world, chat, args),
    document: described,
  })
  world.sent.push({ bot, message, file: world.files.get(file.file_id)! })
  return message
}

const ALBUM_KINDS: Record<string, string> = {
  photo: 'visual',
  video: 'visual',
  audio: 'audio',
  document: 'document',
}

/** Files of one kind, 2 to 10, which become a message each, with the same `media_group_id`. */
const sendMediaGroup: Call = (world, bot, args) => {
  const chat = chatFor(world, bot, args)
  const media = (typeof args.media === 'string' ? JSON.parse(args.media) : args.media) as Arguments[]
  if (media.length < 2 || media.length > 10) throw bad('group send failed: 2-10 items are expected')
  if (new Set(media.map(({ type }) => ALBUM_KINDS[String(type)])).size > 1)
    throw bad('group send failed: media of these types can’t be mixed')
  const media_group_id = `${chat.id}/${world.sent.length}`
  const reply = answered(world, chat, args)
  return media.map(({ type, media: place }) => {
    const upload = args[String(place).replace('attach://', '')] as FormFile | undefined
    if (!Buffer.isBuffer(upload?.content)) throw bad('there is no such file in the request')
    const file = world.file(upload.name, upload.content)
    const described = { ...file, file_name: upload.name, mime_type: upload.type }
    const content = { [String(type)]: type === 'photo' ? [file] : described }
    const message = world.write(chat, bot.user, { ...inTopic(args), ...reply, media_group_id, ...content })
    world.sent.push({ bot, message, file: world.files.get(file.file_id)! })
    return message
  })
}

const getMe: Call = (_world, { user, canManage }) => ({
  ...user,
  can_join_groups: true,
  can_read_all_group_messages: false,
  supports_inline_queries: false,
  can_manage_bots: canManage,
})

/**
 * Telegram itself accepts https only; a self-hosted Bot API server also accepts http, like this one on the
 * local machine.
 */
const isCallable = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1'].includes(hostname))
}

const setWebhook: Call = (_world, bot, args) => {
  const { url, secret_token: secret } = args as { url?: string; secret_token?: string }
  if (!url) return deleteWebhook(_world, bot, args)
  if (!isCallable(url)) throw bad('bad webhook: An HTTPS URL must be provided for webhook')
  if (secret !== undefined && !/^[A-Za-z0-9_-]{1,256}$/.test(secret))
    throw bad('secret token contains unallowed characters')
  const allowed =
    typeof args.allowed_updates === 'string'
      ? (JSON.parse(args.allowed_updates) as string[])
      : args.allowed_updates
  bot.webhook = { url, secret, allowed: (allowed as string[] | undefined) ?? [] }
  return true
}

const deleteWebhook: Call = (_world, bot, args) => {
  bot.webhook = null
  if (args.drop_pending_updates) bot.updates = []
  return true
}

const getWebhookInfo: Call = (_world, { webhook, updates }) => ({
  url: webhook?.url ?? '',
  has_custom_certificate: false,
  pending_update_count: updates.length,
  ...(webhook && webhook.allowed.length > 0 ? { allowed_updates: webhook.allowed } : {}),
})

const getFile: Call = (world, _bot, { file_id: id }) => {
  const file = world.files.get(String(id))
  if (!file) throw bad('invalid file_id')
  if (file.content.length > 20 * 1024 * 1024) throw bad('file is too big')
  return { file_id: id, file_unique_id: id, file_size: file.content.length, file_path: file.path }
}

const managed = (world: World, bot: StandInBot, args: Arguments): StandInBot => {
  const other = world.bots.get(Number(args.user_id))
  if (!other || other.manager !== bot) throw bad('the bot is not managed by the current bot')
  return other
}

const getManagedBotToken: Call = (world, bot, args) => managed(world, bot, args).token
const replaceManagedBotToken: Call = (world, bot, args) => world.retoken(managed(world, bot, args))

/** Polling interval of a waiting getUpdates, in milliseconds. */
const POLL_MS = 20

const getUpdates: Call = async (_world, bot, args) => {
  if (bot.webhook) throw new Refusal(409, 'Conflict: can’t use getUpdates method while webhook is active')
  const offset = integer(args.offset) ?? 0
  const deadline = Date.now() + (integer(args.timeout) ?? 0) * 1000
  bot.updates = bot.updates.filter(({ update_id }) => update_id >= offset)
  while (bot.updates.length === 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  return bot.updates.slice(0, integer(args.limit) ?? 100) satisfies Update[]
}

export const METHODS: Record<string, Call> = Object.fromEntries(
  Object.entries({
    getMe,
    getUpdates,
    setWebhook,
    deleteWebhook,
    getWebhookInfo,
    sendMessage,
    sendDocument,
    answerCallbackQuery,
    sendMediaGroup,
    getFile,
    getManagedBotToken,
    replaceManagedBotToken,
  }).map(([name, call]) => [name.toLowerCase(), call]),
)
