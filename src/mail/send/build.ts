import * as base64 from 'nodemailer/lib/base64'
import type MimeNode from 'nodemailer/lib/mime-node'
import * as qp from 'nodemailer/lib/qp'

/** Maximum length of texts that are encoded in one go; the event loop turns while longer ones are. */
const MAX_LENGTH = 32 * 1024

const leavesOf = (node: MimeNode): MimeNode[] =>
  node.childNodes.length > 0 ? node.childNodes.flatMap(leavesOf) : [node]

/** Whether all of its parts are short texts. */
const isShort = (root: MimeNode): boolean => {
  let length = 0
  return leavesOf(root).every(({ content }) => {
    if (typeof content !== 'string') return false
    length += content.length
    return length <= MAX_LENGTH
  })
}

/** White space at the end comes after what is before it has been wrapped, as in the library's stream. */
const quotedPrintable = (content: string): string => {
  let end = content.length
  while (end > 0 && ' \t'.includes(content[end - 1]!)) end--
  const before = qp.wrap(qp.encode(content.slice(0, end)))
  if (end === content.length) return before
  const lastLine = before.lastIndexOf('\n') + 1
  return before.slice(0, lastLine) + qp.wrap(before.slice(lastLine) + qp.encode(content.slice(end)))
}

const encoded = (content: string, encoding: string | false): string => {
  if (encoding === 'quoted-printable') return quotedPrintable(content)
  return encoding === 'base64' ? base64.wrap(base64.encode(content)) : content
}

const written = (node: MimeNode): string => {
  const encoding = node.getTransferEncoding()
  const head = `${node.buildHeaders()}\r\n\r\n`
  const text = typeof node.content === 'string' ? encoded(node.content, encoding) : ''
  if (!node.multipart) return head + text
  const parts = node.childNodes.map((child) => `--${node.boundary}\r\n${written(child)}`)
  return `${head}${text}${parts.join('\r\n')}\r\n--${node.boundary}--\r\n`
}

/**
 * Returns the same bytes as the library's `build`, with CRLF line ends. A message of short texts is written in one go:
 * the library passes each through seven streams. See docs/decisions.md#composing-mail.
 */
export const build = async (root: MimeNode): Promise<Buffer> => {
  if (!isShort(root)) return root.build()
  const text = written(root)
  const ended = text.endsWith('\n') || text.endsWith('\r') ? text : `${text}\r\n`
  return Buffer.from(ended.replace(/(?<!\r)\n/g, '\r\n') + (ended.endsWith('\r') ? '\n' : ''))
}
