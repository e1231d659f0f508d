import { containerOf } from '../../core/file-text.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import type { Field } from '../../secret/index.ts'
import type { FileTexts } from '../files/file-texts.ts'

/** A file as it is compared. */
interface File {
  name: string
  type: string
  content: Uint8Array | null
}

export interface FieldDeps {
  fileTexts: Pick<FileTexts, 'of'>
}

/**
 * The texts of a file that are compared with secrets: its bytes as they are, and what a document says (PDF, DOCX), whose
 * bytes are compressed.
 */
const textsOf = async ({ fileTexts }: FieldDeps, file: File, workspaceId: string): Promise<string[]> => {
  const { content } = file
  if (!content) return []
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const asIs = bytes[0] === 0xff && bytes[1] === 0xfe ? bytes.toString('utf16le') : bytes.toString()
  return containerOf(content, false) ? [asIs, await fileTexts.of({ ...file, content }, workspaceId)] : [asIs]
}

type Content = Pick<Message, 'workspaceId' | 'subject' | 'text' | 'html' | 'to' | 'cc' | 'bcc'>

/** Returns what of a message is compared with its agent's secrets. */
export const fieldsOf = async (
  deps: FieldDeps,
  { workspaceId, subject, text, html, to, cc, bcc }: Content,
  files: readonly File[],
): Promise<Field[]> => {
  const texts = await Promise.all(files.map((file) => textsOf(deps, file, workspaceId)))
  return [
    ...Object.entries({
      ...{ subject, text, html },
      ...{ to: to.join('\n'), cc: cc.join('\n'), bcc: bcc.join('\n') },
    }),
    ...files.flatMap(({ name, type }, index) => [
      [`attachments[${index}].name`, name],
      [`attachments[${index}].type`, type],
      ...texts[index]!.map((one) => [`attachments[${index}]`, one]),
    ]),
  ].flatMap(([name, value]) => (value ? [{ name: name!, text: value }] : []))
}
