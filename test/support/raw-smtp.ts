import { connect } from 'node:net'
import { until } from './until.ts'

/** Delivers a message byte for byte, valid or not, and resolves with the server's response to it. */
export async function sendRaw(smtp: string, from: string, to: string, raw: Buffer): Promise<string> {
  const [host, port] = smtp.split(':') as [string, string]
  const socket = connect(Number(port), host)
  let output = ''
  let closed = false
  socket.setEncoding('latin1').on('data', (text: string) => {
    output += text
  })
  socket
    .on('error', () => undefined)
    .on('close', () => {
      closed = true
    })
  /** Resolves with the last line of the next response: the one with a space after its code. */
  const answer = () => until(() => /^\d{3} .*$/m.exec(output)?.[0] ?? (closed ? 'closed' : null))
  const send = async (line: string | Buffer): Promise<string> => {
    output = ''
    socket.write(line)
    return answer()
  }
  try {
    await answer()
    for (const line of ['EHLO mail.example.com', `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'DATA']) {
      const response = await send(`${line}\r\n`)
      if (!/^[23]/.test(response)) return response
    }
    return await send(Buffer.concat([stuffed(raw), Buffer.from('\r\n.\r\n')]))
  } finally {
    socket.destroy()
  }
}

/** Doubles the dot at the start of a line (RFC 5321 4.5.2). */
const stuffed = (raw: Buffer): Buffer =>
  Buffer.from(raw.toString('latin1').replace(/^\./, '..').replaceAll('\r\n.', '\r\n..'), 'latin1')
