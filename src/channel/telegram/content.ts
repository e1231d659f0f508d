import { richText } from './rich.ts'
import type { Entity, FileRef, TelegramMessage, User } from './update.ts'

/** What a message says in words, and the file that goes with it. */
export interface Content {
  text: string
  file: FileToFetch | null
}

export interface FileToFetch {
  id: string
  name: string
  type: string
  /** In bytes, as Telegram says; null when it doesn't. */
  size: number | null
}

/**
 * A message's kinds of files: how each is called in a text, its extension and media type where Telegram tells
 * none.
 */
const KINDS = {
  // Before `document`, which repeats it.
  animation: { words: 'animation', extension: 'mp4', type: 'video/mp4' },
  document: { words: 'file', extension: 'bin', type: 'application/octet-stream' },
  audio: { words: 'audio', extension: 'mp3', type: 'audio/mpeg' },
  video: { words: 'video', extension: 'mp4', type: 'video/mp4' },
  video_note: { words: 'video message', extension: 'mp4', type: 'video/mp4' },
  voice: { words: 'voice message', extension: 'ogg', type: 'audio/ogg' },
} as const

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

/** `kind-number.extension`, for files that have no name of their own. */
const nameOf = (kind: string, { message_id }: TelegramMessage, extension: string): string =>
  `${kind.replaceAll(' ', '-')}-${message_id}.${extension}`

const toFetch = ({ file_id, file_size }: FileRef, name: string, type: string): FileToFetch => ({
  id: file_id,
  name,
  type,
  size: file_size ?? null,
})

interface Described {
  words: string
  file: FileToFetch | null
}

const ofFile = (message: TelegramMessage): Described | null => {
  for (const [key, { words, extension, type }] of Object.entries(KINDS)) {
    const file = message[key as keyof typeof KINDS]
    if (!file) continue
    const named = file.file_name ? `: ${file.file_name}` : ''
    const long = file.duration === undefined ? '' : `, ${clock(file.duration)}`
    const name = file.file_name ?? nameOf(words, message, extension)
    return { words: `[${words}${named}${long}]`, file: toFetch(file, name, file.mime_type ?? type) }
  }
  return null
}

/** Telegram offers each photo in several sizes, the largest last. */
const ofPhoto = (message: TelegramMessage): Described | null => {
  const largest = message.photo?.toSorted((a, b) => (a.file_size ?? 0) - (b.file_size ?? 0)).at(-1)
  return largest
    ? { words: '[photo]', file: toFetch(largest, nameOf('photo', message, 'jpg'), 'image/jpeg') }
    : null
}

const ofSticker = (message: TelegramMessage): Described | null => {
  const { sticker } = message
  if (!sticker) return null
  const [extension, type] = sticker.is_video
    ? ['webm', 'video/webm']
    : sticker.is_animated
      ? ['tgs', 'application/x-tgsticker']
      : ['webp', 'image/webp']
  return {
    words: `[sticker${sticker.emoji ? ` ${sticker.emoji}` : ''}]`,
    file: toFetch(sticker, nameOf('sticker', message, extension), type),
  }
}

const fullName = (person: { first_name?: string | undefined; last_name?: string | undefined }): string =>
  [person.first_name, person.last_name].filter(Boolean).join(' ')

const place = ({ latitude, longitude }: { latitude: number; longitude: number }): string =>
  `${latitude}, ${longitude}`

const listed = (items: readonly { text: string }[]): string => items.map(({ text }) => `\n- ${text}`).join('')

/**
 * What has no file and is no text. Null for service messages (somebody joined, a title changed), which are
 * nobody's to answer.
 */
const inWords = (message: TelegramMessage): string | null => {
  const { contact, venue, location, poll, dice, checklist, rich_message } = message
  if (contact) return `[contact: ${fullName(contact)}, ${contact.phone_number}]`
  if (venue) return `[place: ${venue.title}, ${venue.address} (${place(venue.location)})]`
  if (location) return `[location: ${place(location)}]`
  if (poll) return `[poll: ${poll.question}]${listed(poll.options)}`
  if (dice) return `[${dice.emoji} ${dice.value}]`
  if (checklist) return `[checklist: ${checklist.title}]${listed(checklist.tasks)}`
  if (rich_message !== undefined) return richText(rich_message) || null
  const other = (['story', 'game', 'invoice', 'paid_media'] as const).find(
    (kind) => message[kind] !== undefined,
  )
  return other ? `[${other.replace('_', ' ')}]` : null
}

/**
 * Links that stand behind other words, written out behind those: `here (https://…)`. From the last to the
 * first, so that offsets hold.
 */
const withLinks = (text: string, entities: readonly Entity[] = []): string =>
  entities
    .filter(({ type, url }) => type === 'text_link' && url)
    .toSorted((a, b) => b.offset - a.offset)
    .reduce((said, { offset, length, url }) => {
      const end = offset + length
      const isSpelledOut = said.slice(offset, end) === url
      return isSpelledOut ? said : `${said.slice(0, end)} (${url})${said.slice(end)}`
    }, text)

const forwardedFrom = ({ forward_origin: origin }: TelegramMessage): string => {
  if (!origin) return ''
  const { sender_user: user, sender_user_name, sender_chat, chat } = origin
  const who = user ? fullName(user) : (sender_user_name ?? sender_chat?.title ?? chat?.title)
  return `[forwarded${who ? ` from ${who}` : ''}]\n`
}

/** A message in words, with its file. Null when there is nothing that anybody wrote. */
export const contentOf = (message: TelegramMessage): Content | null => {
  const described = ofPhoto(message) ?? ofFile(message) ?? ofSticker(message)
  const written = withLinks(
    message.text ?? message.caption ?? '',
    message.entities ?? message.caption_entities,
  )
  const words = written || described?.words || inWords(message)
  return words ? { text: forwardedFrom(message) + words, file: described?.file ?? null } : null
}

/** A person's or a chat's name; null when it has none. */
export const displayName = (
  sender: Pick<User, 'first_name' | 'last_name'> & { title?: string | undefined },
): string | null => sender.title ?? (fullName(sender) || null)
