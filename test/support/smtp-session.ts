import { connect, type Socket } from 'node:net'
import { until } from './until.ts'

/** An SMTP session whose commands a test writes itself. */
export interface SmtpSession {
  socket: Socket
  /** Resolves with the next complete response, or with '' once the server has closed the connection. */
  receive(): Promise<string>
  send(line: string): Promise<string>
}

/**
 * Connects to a port of this machine from one of its addresses, sends the header of a proxy if there is one, waits for the greeting,
 * and sends EHLO.
 */
export const dialSmtp = async (
  port: number,
  { localAddress = '127.0.0.1', header = '', helo = 'client.example' } = {},
): Promise<SmtpSession> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  let text = ''
  let closed = false
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  socket
    .on('error', () => undefined)
    .on('close', () => {
      closed = true
    })
  const receive = () =>
    until(() => {
      const [whole] = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(text) ?? []
      if (whole === undefined) return closed ? { response: '' } : null
      text = text.slice(whole.length)
      return { response: whole }
    }, 60_000).then(({ response }) => response)
  const send = (line: string) => {
    socket.write(`${line}\r\n`)
    return receive()
  }
  socket.write(header)
  await receive()
  await send(`EHLO ${helo}`)
  return { socket, receive, send }
}
