import SMTPConnection from 'nodemailer/lib/smtp-connection'

export type SmtpOptions = ConstructorParameters<typeof SMTPConnection>[0]

/** Whether an address needs a server that takes more than ASCII. Of a normalized one only the part before the at-sign can. */
export const needsUtf8 = (address: string): boolean => /[^\0-\x7f]/.test(address)

/**
 * Whether a server takes addresses beyond ASCII (SMTPUTF8, RFC 6531), by its EHLO. nodemailer sends them to any. True for one that can't
 * be asked: whoever tries then to send hears why.
 */
export const offersUtf8 = (options: SmtpOptions, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const connection = new SMTPConnection(options)
    const settle = (offered: boolean) => {
      resolve(offered)
      connection.close()
    }
    signal.addEventListener('abort', () => settle(true), { once: true })
    connection.on('error', () => settle(true))
    connection.on('end', () => settle(true))
    connection.connect(() => {
      resolve(/^250[ -]SMTPUTF8\b/im.test(String(connection.lastServerResponse)))
      connection.quit()
    })
  })
