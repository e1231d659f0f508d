import type { X509Certificate } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { Routine } from '../../core/routine.ts'
import { certificateOf, readPem, type TlsFiles, type TlsPair } from '../../core/tls-pair.ts'

/**
 * How often the files are read, in milliseconds. fs.watch says nothing on network file systems, nor when a folder
 * above a link is exchanged (Kubernetes). To read some KB is cheaper than to find out what has changed.
 */
const POLL_MS = 60_000

export interface FollowedTlsOptions {
  files: TlsFiles
  /** Serves a pair from now on. */
  use(pair: TlsPair): void
  clock: Clock
  log: Logger
}

/**
 * Follows the files of a certificate, which certbot and others replace. A new pair is used once both files fit; until
 * then, and when they disappear, the former one stays in use.
 */
export class FollowedTls {
  readonly #options: FollowedTlsOptions
  readonly #polling: Routine
  #certificate: X509Certificate
  #served: TlsPair
  /** What was last warned of. */
  #refused = ''
  /** The last one that was seen to have expired. */
  #expired: X509Certificate | undefined
  #reading: Promise<void> = Promise.resolve()

  constructor(options: FollowedTlsOptions) {
    const { files, clock, log } = options
    this.#options = options
    this.#served = files
    this.#certificate = certificateOf(files)
    const failed = 'the certificate of SMTP_TLS_CERT could not be looked at'
    this.#polling = new Routine(() => this.#readNext(), { everyMs: POLL_MS, failed, clock, log })
    this.#polling.start()
  }

  /** When the certificate in use expires. */
  get expiry(): Date {
    return new Date(this.#certificate.validTo)
  }

  /** Reads the files now. Says again why they are not used, if so. */
  reload(): Promise<void> {
    this.#refused = ''
    this.#options.log.info({ event: 'smtp.certificate' }, 'reading SMTP_TLS_CERT and SMTP_TLS_KEY again')
    return this.#readNext()
  }

  stop(): Promise<void> {
    return this.#polling.stop()
  }

  /** One after the other: what was read first must not replace what was read later. */
  #readNext(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#read())
    return this.#reading
  }

  async #read(): Promise<void> {
    const { certFile, keyFile } = this.#options.files
    try {
      const [cert, key] = await Promise.all([readPem(certFile), readPem(keyFile)])
      if (cert !== this.#served.cert || key !== this.#served.key) this.#take({ cert, key })
      else this.#refused = ''
    } catch (error) {
      this.#refuse((error as NodeJS.ErrnoException).code ?? messageOf(error), error)
    }
    this.#checkExpiry()
  }

  /** Warns once of a certificate that has expired. */
  #checkExpiry(): void {
    const { clock, log } = this.#options
    if (this.expiry > clock.now() || this.#expired === this.#certificate) return
    this.#expired = this.#certificate
    log.warn(
      { event: 'smtp.certificate', expires: this.expiry },
      'the certificate of SMTP_TLS_CERT has expired; servers that check it (MTA-STS) deliver no mail',
    )
  }

  #take(pair: TlsPair): void {
    const { use, log } = this.#options
    try {
      const certificate = certificateOf(pair)
      use(pair)
      this.#certificate = certificate
      this.#served = pair
      this.#refused = ''
      const { serialNumber: serial } = certificate
      log.info(
        { event: 'smtp.certificate', serial, expires: this.expiry },
        'new certificate of SMTP_TLS_CERT',
      )
    } catch (error) {
      this.#refuse(`${pair.cert}\n${pair.key}`, error)
    }
  }

  /** Warns once of the same state of the files. */
  #refuse(state: string, error: unknown): void {
    if (state === this.#refused) return
    this.#refused = state
    this.#options.log.warn(
      { event: 'smtp.certificate', error: messageOf(error), expires: this.expiry },
      'SMTP_TLS_CERT and SMTP_TLS_KEY cannot be used as they are now; the former certificate stays in use',
    )
  }
}
