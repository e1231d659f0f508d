import type { InboundAttachment } from '../../core/channel/inbound.ts'

/** Telegram shows files of one kind together; photos and videos are one kind (Bot API, sendMediaGroup). */
type AlbumKind = 'visual' | 'audio' | 'document'
export type MediaType = 'photo' | 'video' | 'audio' | 'document'

const MAX_FILES = 10
/** Photos: Telegram takes larger ones as documents only. @limit SMS and Telegram */
const MAX_PHOTO_BYTES = 10 * 1024 * 1024

/** How Telegram shows a file: only of these types it makes a picture, a film or a track that can be played. */
export const mediaTypeOf = ({ type, content }: InboundAttachment): MediaType => {
  const [media = ''] = type.toLowerCase().split(';', 1)
  if (media === 'image/jpeg' || media === 'image/png')
    return content.byteLength > MAX_PHOTO_BYTES ? 'document' : 'photo'
  if (media === 'video/mp4') return 'video'
  return media === 'audio/mpeg' || media === 'audio/mp4' ? 'audio' : 'document'
}

const kindOf = (file: InboundAttachment): AlbumKind => {
  const type = mediaTypeOf(file)
  return type === 'photo' || type === 'video' ? 'visual' : type
}

/** Collects files that follow each other and are of one kind into albums of 2 to 10; the others are alone. */
export const albumsOf = (files: readonly InboundAttachment[]): InboundAttachment[][] => {
  const albums: InboundAttachment[][] = []
  for (const file of files) {
    const last = albums.at(-1)
    if (last && last.length < MAX_FILES && kindOf(last[0]!) === kindOf(file)) last.push(file)
    else albums.push([file])
  }
  return albums
}
