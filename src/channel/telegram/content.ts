import { richText } from './rich.ts'
import type { Entity, FileRef, Messages, TelegramMessage, User } from './update.ts'

/** A message as text, with its files. */
export interface Content {
  text: string
  files: FileToFetch[]
}

export interface FileToFetch {
  id: string
  name: string
  type: string
  /** Size in bytes; null when Telegram does not state it. */
  size: number | null
}

/**
 * Kinds of files in messages: how a text refers to each, and its extension and media type when Telegram
 * states none.
 */
const KINDS = {
  // Must precede `document`, which repeats it.
  animation: { words: 'animation', extension: 'mp4', type: 'video/mp4' },
  document: { words: 'file', extension: 'bin', type: 'application/octet-stream' },
  audio: { words: 'audio', extension: 'mp3', type: 'audio/mpeg' },
  video: { words: 'video', extension: 'mp4', type: 'video/mp4' },
  video_note: { words: 'video message', extension: 'mp4', type: 'video/mp4' },
  voice: { words: 'voice message', extension: 'ogg', type: 'audio/ogg' },
} as const

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

/** Returns `kind-number.extension`, for files without a name. */
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

/** Telegram provides each photo in several sizes. */
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
 * Describes a message that has neither a file nor text. Null for service messages (someone joined, a title
 * changed), which need no reply.
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
 * Writes out links after their link text: `here (https://…)`. From the last to the first, so that the offsets
 * stay valid.
 */
const withLinks = (text: string, entities: readonly Entity[] = []): string =>
  entities
    .filter(({ type, url }) => type === 'text_link' && url)
    .toSorted((a, b) => b.offset - a.offset)
    .reduce((result, { offset, length, url }) => {
      const end = offset + length
      const isSpelledOut = result.slice(offset, end) === url
      return isSpelledOut ? result : `${result.slice(0, end)} (${url})${result.slice(end)}`
    }, text)

const forwardedFrom = ({ forward_origin: origin }: TelegramMessage): string => {
  if (!origin) return ''
  const { sender_user: user, sender_user_name, sender_chat, chat } = origin
  const who = user ? fullName(user) : (sender_user_name ?? sender_chat?.title ?? chat?.title)
  return `[forwarded${who ? ` from ${who}` : ''}]\n`
}

const describe = (message: TelegramMessage) => {
  const described = ofPhoto(message) ?? ofFile(message) ?? ofSticker(message)
  const written = withLinks(
    message.text ?? message.caption ?? '',
    message.entities ?? message.caption_entities,
  )
  return { written, words: written || described?.words || inWords(message), file: described?.file ?? null }
}

/**
 * Returns a message, or an album's messages as one, as text with its files. An album usually has one caption;
 * its files are described only if it has none. Null for service messages.
 */
export const contentOf = (messages: Messages): Content | null => {
  const parts = messages.map(describe)
  const captions = parts.map(({ written }) => written).filter((written) => written !== '')
  const words = captions.length > 0 ? captions : parts.flatMap(({ words }) => words || [])
  if (words.length === 0) return null
  return {
    text: forwardedFrom(messages[0]) + words.join('\n'),
    files: parts.flatMap(({ file }) => file ?? []),
  }
}

/** Returns the name of a person or a chat; null when it has none. */
export const displayName = (
  sender: Pick<User, 'first_name' | 'last_name'> & { title?: string | undefined },
): string | null => sender.title ?? (fullName(sender) || null)
