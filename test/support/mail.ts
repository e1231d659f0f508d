import { generateKeyPairSync } from 'node:crypto'
import { createTransport, type SendMailOptions } from 'nodemailer'
import MailComposer from 'nodemailer/lib/mail-composer'

/**
 * A mail as a person writes it, or `raw` as a program generates it, with a separate envelope if it should
 * differ.
 */
export interface Letter extends SendMailOptions {
  /** Key to sign the mail with. */
  sign?: DkimKey
}

export interface DeliverOptions {
  /** True requires STARTTLS; false does not use it. */
  tls?: boolean
  helo?: string
}

/** The server's response to the message, and the recipients that it refused. */
export interface Delivery {
  accepted: string[]
  rejected: string[]
  response: string
}

/**
 * Delivers a mail to the server at `host:port`. Rejects with nodemailer's error (`responseCode`, `response`)
 * when it is refused.
 */
export async function deliver(
  address: string,
  { sign, ...letter }: Letter,
  { tls = false, helo }: DeliverOptions = {},
): Promise<Delivery> {
  const colon = address.lastIndexOf(':')
  const transport = createTransport({
    host: address.slice(0, colon).replace(/^\[|\]$/g, ''),
    port: Number(address.slice(colon + 1)),
    ignoreTLS: !tls,
    requireTLS: tls,
    tls: { rejectUnauthorized: false },
    ...(helo === undefined ? {} : { name: helo }),
  })
  const { accepted, rejected, response } = await transport.sendMail({
    ...letter,
    ...(sign === undefined ? {} : { dkim: sign.options }),
  })
  return { accepted: accepted.map(String), rejected: rejected.map(String), response }
}

/** Returns the mail's bytes with CRLF line endings, signed if a key is given. */
export async function rawOf({ sign, ...letter }: Letter): Promise<Buffer> {
  const compiled = new MailComposer({ newline: '\r\n', ...letter }).compile()
  if (sign === undefined) return compiled.build()
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    dkim: sign.options,
  })
  return (
    await transport.sendMail({
      raw: await compiled.build(),
      envelope: { from: 'a@example.com', to: 'b@example.com' },
    })
  ).message as Buffer
}

export interface DkimKey {
  options: { domainName: string; keySelector: string; privateKey: string }
  /** Name of the DNS record with the public key. */
  name: string
  txt: string
}

/**
 * Creates a key pair for signing as `domain`. 1,024 bits are the minimum that verifiers accept, and fast to
 * generate.
 */
export function dkimKey(domain: string, selector = 'test'): DkimKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 1024,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })
  return {
    options: { domainName: domain, keySelector: selector, privateKey },
    name: `${selector}._domainkey.${domain}`,
    txt: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`,
  }
}
