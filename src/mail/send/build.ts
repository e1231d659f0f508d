import * as base64 from 'nodemailer/lib/base64'
import type MimeNode from 'nodemailer/lib/mime-node'
import * as qp from 'nodemailer/lib/qp'

/** Maximum length of texts that are encoded in one go; the event loop turns while longer ones are. */
const MAX_LENGTH = 32 * 1024

const leavesOf = (node: MimeNode): MimeNode[] =>
  node.childNodes.length > 0 ? node.childNodes.flatMap(leavesOf) : [node]

/** Whether all of its parts are short texts. The library's streams break the line before white space at the end elsewhere. */
const isShort = (root: MimeNode): boolean => {
  let length = 0
  return leavesOf(root).every(({ content }) => {
    if (typeof content !== 'string' || /[ \t]$/.test(content)) return false
    length += content.length
    return length <= MAX_LENGTH
  })
}

const encoded = (content: string, encoding: string | false): string => {
  if (encoding === 'quoted-printable') return qp.wrap(qp.encode(content))
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
