import type { Message } from '../../db/generated/prisma/client.ts'
import type { Field } from '../../secret/index.ts'

/** A file as it is compared. */
interface File {
  name: string
  type: string
  content: Uint8Array | null
}

/**
 * The texts of a file that are compared with secrets: its bytes as they are. What a reader makes of a document (PDF,
 * DOCX) belongs here as well, as another text of the same file.
 */
const textsOf = (content: Uint8Array): string[] => {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  return [bytes[0] === 0xff && bytes[1] === 0xfe ? bytes.toString('utf16le') : bytes.toString()]
}

type Content = Pick<Message, 'subject' | 'text' | 'html' | 'to' | 'cc'>

/** Returns what of a message is compared with its agent's secrets. */
export const fieldsOf = ({ subject, text, html, to, cc }: Content, files: readonly File[]): Field[] =>
  [
    ...Object.entries({ subject, text, html, to: to.join('\n'), cc: cc.join('\n') }),
    ...files.flatMap(({ name, type, content }, index) => [
      [`attachments[${index}].name`, name],
      [`attachments[${index}].type`, type],
      ...(content ? textsOf(content) : []).map((text) => [`attachments[${index}]`, text]),
    ]),
  ].flatMap(([name, text]) => (text ? [{ name: name!, text }] : []))
