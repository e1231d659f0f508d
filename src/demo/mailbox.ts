import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

/** Another mail provider: an SMTP server that stores the mail it receives. */
export interface Mailbox {
  readonly url: string
  /** Resolves with the next mail received. */
  next(): Promise<Email>
  stop(): Promise<void>
}

const readAll = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Opens a mailbox on a free local port. */
export const openMailbox = async (): Promise<Mailbox> => {
  const mails: Email[] = []
  const readers: ((mail: Email) => void)[] = []
  const deliver = (mail: Email): void => {
    const reader = readers.shift()
    if (reader) reader(mail)
    else mails.push(mail)
  }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _session, done) => {
      readAll(stream)
        .then((raw) => PostalMime.parse(raw))
        .then(deliver)
        .then(() => done(), done)
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    next: async () => mails.shift() ?? new Promise((resolve) => readers.push(resolve)),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
