import { connect } from 'node:net'
import { until } from './until.ts'

/** Hands over a message byte for byte, whatever it holds, and resolves with the server's answer to it. */
export async function sendRaw(smtp: string, from: string, to: string, raw: Buffer): Promise<string> {
  const [host, port] = smtp.split(':') as [string, string]
  const socket = connect(Number(port), host)
  let heard = ''
  let closed = false
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text
  })
  socket
    .on('error', () => undefined)
    .on('close', () => {
      closed = true
    })
  /** The last line of the next answer: what comes after a code and a space. */
  const answer = () => until(() => /^\d{3} .*$/m.exec(heard)?.[0] ?? (closed ? 'closed' : null), 120_000)
  const say = async (line: string | Buffer): Promise<string> => {
    heard = ''
    socket.write(line)
    return answer()
  }
  try {
    await answer()
    for (const line of ['EHLO mail.example.com', `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'DATA']) {
      const said = await say(`${line}\r\n`)
      if (!/^[23]/.test(said)) return said
    }
    return await say(Buffer.concat([stuffed(raw), Buffer.from('\r\n.\r\n')]))
  } finally {
    socket.destroy()
  }
}

/** RFC 5321 4.5.2: a line that begins with a dot gets another one. */
const stuffed = (raw: Buffer): Buffer =>
  Buffer.from(raw.toString('latin1').replace(/^\./, '..').replaceAll('\r\n.', '\r\n..'), 'latin1')
