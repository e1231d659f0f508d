import type { Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'

/**
 * smtp-server that greets at once: its own 100 ms of silence catches clients that talk too soon, which a filter for open relays wants, but
 * every sender's every connection pays for it.
 */
export class PromptSmtpServer extends SMTPServer {
  readonly #perAddress: number

  constructor(options: ConstructorParameters<typeof SMTPServer>[0], perAddress: number) {
    super(options)
    this.#perAddress = perAddress
  }

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new PromptConnection(this, socket, options)
    this.connections.add(connection)
    connection.on('error', (error) => this.emit('error', error))
    connection.init()
  }

  /** Why a connection can't be taken now, or null. */
  refusal(remoteAddress: string): string | null {
    if (this.connections.size > (this.options.maxClients ?? Number.POSITIVE_INFINITY)) return 'Too many connections, try again in a moment'
    const same = [...this.connections].filter((connection) => connection.remoteAddress === remoteAddress).length
    return same > this.#perAddress ? 'Too many connections from your address, try again in a moment' : null
  }
}

class PromptConnection extends SMTPConnection {
  override init(): void {
    this._setListeners(() => {
      const refusal = (this._server as PromptSmtpServer).refusal(this.remoteAddress)
      if (refusal !== null) this.send(421, `${this.name} ${refusal}`, false)
      else this.connectionReady()
    })
  }
}
