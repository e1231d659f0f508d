import { count, detail, text } from './resource.ts'

/** A file of a message or a draft, without its content. */
export const MessageFile = detail('File', 'A file, without its content.', {
  name: text('Its name.'),
  type: text('Its media type.'),
  size: count('Its size in bytes.'),
})
