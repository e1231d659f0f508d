import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { generate } from 'selfsigned'
import type { TlsFiles } from '../../src/core/tls-pair.ts'

export interface Pair {
  cert: string
  key: string
  serial: string
  /** In milliseconds. */
  expires: number
}

export const createPair = async (days = 90): Promise<Pair> => {
  const notAfterDate = new Date(Date.now() + days * 86_400_000)
  const made = await generate([{ name: 'commonName', value: 'mx.example.org' }], {
    keyType: 'ec',
    notAfterDate,
  })
  const { serialNumber: serial, validTo } = new X509Certificate(made.cert)
  return { cert: made.cert, key: made.private, serial, expires: Date.parse(validTo) }
}

/** Writes a pair into a folder as tls.crt and tls.key, and returns it as the service is given it. */
export const writePair = (dir: string, { cert, key }: Pair): TlsFiles => {
  const [certFile, keyFile] = [join(dir, 'tls.crt'), join(dir, 'tls.key')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  return { cert, key, certFile, keyFile }
}

/** An open SMTP session over TLS. */
export interface TlsSession {
  /** The serial number of the certificate that the server has shown. */
  serial: string
  /** Resolves with the server's response to a message, or rejects. */
  send(from: string, to: string, text: string): Promise<string>
  close(): void
}

/** Opens a session with STARTTLS. */
export const openTlsSession = async (address: string): Promise<TlsSession> => {
  const [host, port] = address.split(':') as [string, string]
  const connection = new SMTPConnection({
    ...{ host, port: Number(port), requireTLS: true, tls: { rejectUnauthorized: false } },
  })
  await new Promise<void>((resolve, reject) => connection.on('error', reject).connect(() => resolve()))
  const { _socket: socket } = connection as unknown as { _socket: unknown }
  if (!(socket instanceof TLSSocket)) throw new Error('the session has no TLS')
  return {
    serial: socket.getPeerX509Certificate()!.serialNumber,
    send: (from, to, text) =>
      new Promise((resolve, reject) => {
        const done = (error: Error | null, info: { response?: string }) =>
          error ? reject(error) : resolve(info.response ?? '')
        connection.send({ from, to: [to] }, text, done)
      }),
    close: () => connection.close(),
  }
}

/** Returns the serial number of the certificate that a new session gets. */
export const servedSerial = async (address: string): Promise<string> => {
  const session = await openTlsSession(address)
  session.close()
  return session.serial
}
