import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sign } from '../../channel/sms/signature.ts'

/** A text that the service sent, as Twilio stores it. */
export interface SentSms {
  sid: string
  from: string
  to: string
  body: string
  statusCallback: string
  /** Where its files are fetched from. */
  mediaUrls: string[]
  /** The status that queries return. */
  status: string
}

/** A response that replaces the regular one; `hang`: no response at all. */
export type Instead = { status: number; body: string; location?: string } | 'hang'

interface Reply {
  status: number
  body?: unknown
  /** A file and its type, instead of JSON. */
  file?: { content: Uint8Array; type: string }
  location?: string
}

interface Call {
  /** The variable parts of the path. */
  parts: string[]
  query: URLSearchParams
  form: URLSearchParams
}

type Handler = (call: Call) => Reply

const sidOf = (prefix: string) => prefix + randomBytes(16).toString('hex')
const refusal = (status: number, code: number, message: string): Reply => ({
  status,
  body: { code, message, status },
})
const NOT_FOUND = refusal(404, 20404, 'The requested resource was not found')

const FOR_SALE = ['+15005550101', '+15005550102', '+15005550103']
const PRICES = {
  price_unit: 'USD',
  phone_number_prices: [{ number_type: 'local', base_price: '1.15', current_price: '1.15' }],
}

const readForm = async (request: IncomingMessage): Promise<URLSearchParams> => {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return new URLSearchParams(Buffer.concat(chunks).toString())
}

const locationOf = ({ location }: { location?: string | undefined }) =>
  location === undefined ? {} : { Location: location }

const write = (response: ServerResponse, { status, body, file, location }: Reply): void => {
  const type = file?.type ?? 'application/json'
  response.writeHead(status, { 'Content-Type': type, ...locationOf({ location }) })
  response.end(file?.content ?? (body === undefined ? undefined : JSON.stringify(body)))
}

/**
 * A stand-in for Twilio that implements the part of its API that the service uses, for the demo and for
 * tests. One account, on a free port.
 */
export class TwilioStandIn {
  readonly accountSid = sidOf('AC')
  readonly authToken = randomBytes(16).toString('hex')
  readonly sent: SentSms[] = []
  /** The purchased numbers, with their webhook URLs. */
  readonly numbers = new Map<string, { sid: string; smsUrl: string }>()
  /** Requests as `POST /path`, in order. */
  readonly requests: string[] = []
  /** Responses that replace the regular ones for matching requests. */
  readonly insteads: { pattern: RegExp; answer: Instead }[] = []
  /** Whether to report `sent` and `delivered` automatically for each text. */
  readonly #reports: boolean
  readonly #files = new Map<string, { content: Uint8Array; type: string }>()
  readonly #server: Server
  readonly #routes: readonly (readonly [RegExp, Handler])[]

  private constructor(reports: boolean) {
    this.#reports = reports
    this.#server = createServer((request, response) => void this.#serve(request, response))
    const account = `/2010-04-01/Accounts/${this.accountSid}`
    this.#routes = [
      [new RegExp(`^POST ${account}/Messages.json$`), (call) => this.#send(call)],
      [new RegExp(`^GET ${account}/Messages/(\\w+).json$`), (call) => this.#status(call)],
      [new RegExp(`^GET ${account}/AvailablePhoneNumbers/(\\w+)/(\\w+).json$`), (call) => this.#offer(call)],
      [new RegExp(`^POST ${account}/IncomingPhoneNumbers.json$`), (call) => this.#buy(call)],
      [new RegExp(`^GET ${account}/IncomingPhoneNumbers.json$`), (call) => this.#list(call)],
      [
        new RegExp(`^(POST|DELETE) ${account}/IncomingPhoneNumbers/(\\w+).json$`),
        (call) => this.#change(call),
      ],
      [
        new RegExp(`^GET ${account}/Media/(\\w+)$`),
        ({ parts: [id] }) => ({ status: 307, location: `/files/${id}` }),
      ],
      [/^GET \/v1\/PhoneNumbers\/Countries\/US$/, () => ({ status: 200, body: PRICES })],
    ]
  }

  static async open({ reports = false } = {}): Promise<TwilioStandIn> {
    const twilio = new TwilioStandIn(reports)
    await new Promise<void>((resolve) => twilio.#server.listen(0, '127.0.0.1', resolve))
    return twilio
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The settings of a service that uses this stand-in. */
  get environment(): Record<'TWILIO_ACCOUNT_SID' | 'TWILIO_AUTH_TOKEN' | 'TWILIO_API_URL', string> {
    return {
      TWILIO_ACCOUNT_SID: this.accountSid,
      TWILIO_AUTH_TOKEN: this.authToken,
      TWILIO_API_URL: this.url,
    }
  }

  /** Stores a file that can be attached to a text; returns its URL. */
  hold(content: Uint8Array, type: string): string {
    const id = sidOf('ME')
    this.#files.set(id, { content, type })
    return `${this.url}/2010-04-01/Accounts/${this.accountSid}/Media/${id}`
  }

  /**
   * Sends a text to one of the purchased numbers; resolves with the service's response. `more`: additional or
   * overriding fields.
   */
  text(from: string, to: string, body: string, more: Record<string, string> = {}): Promise<Response> {
    const number = this.numbers.get(to)
    if (!number) throw new Error(`${to} has not been purchased`)
    const sid = sidOf('SM')
    const fields = {
      MessageSid: sid,
      SmsSid: sid,
      From: from,
      To: to,
      Body: body,
      NumMedia: '0',
      NumSegments: '1',
      ...more,
    }
    return this.post(number.smsUrl.split('#', 1)[0]!, fields)
  }

  /** Reports the status of a text to the service. */
  report(
    { sid, from, to, statusCallback }: SentSms,
    status: string,
    more: Record<string, string> = {},
  ): Promise<Response> {
    return this.post(statusCallback, {
      MessageSid: sid,
      SmsSid: sid,
      MessageStatus: status,
      SmsStatus: status,
      From: from,
      To: to,
      ...more,
    })
  }

  /** Sends a signed webhook. */
  post(url: string, fields: Record<string, string>): Promise<Response> {
    const form = new URLSearchParams({ AccountSid: this.accountSid, ApiVersion: '2010-04-01', ...fields })
    return fetch(url, {
      method: 'POST',
      body: form,
      headers: { 'X-Twilio-Signature': sign(this.authToken, url, form) },
    })
  }

  /** Closes all connections, including those waiting for a response. */
  hangUp(): void {
    this.#server.closeAllConnections()
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url)
    const line = `${request.method} ${pathname}`
    this.requests.push(line)
    const form = await readForm(request)
    const instead = this.insteads.find(({ pattern }) => pattern.test(line))?.answer
    if (instead === 'hang') return
    if (instead) return void response.writeHead(instead.status, locationOf(instead)).end(instead.body)
    write(response, this.#answer(line, request.headers.authorization, searchParams, form))
  }

  #answer(
    line: string,
    authorization: string | undefined,
    query: URLSearchParams,
    form: URLSearchParams,
  ): Reply {
    // Files are at a different location, which must not receive the credentials.
    const file = this.#files.get(line.replace('GET /files/', ''))
    if (file)
      return authorization ? refusal(400, 20400, 'credentials must not be sent here') : { status: 200, file }
    const expected = Buffer.from(`${this.accountSid}:${this.authToken}`).toString('base64')
    if (authorization !== `Basic ${expected}`) return refusal(401, 20003, 'Authenticate')
    for (const [pattern, handle] of this.#routes) {
      const match = pattern.exec(line)
      if (match) return handle({ parts: match.slice(1), query, form })
    }
    return NOT_FOUND
  }

  #send({ form }: Call): Reply {
    const [from, to, body, statusCallback] = ['From', 'To', 'Body', 'StatusCallback'].map(
      (name) => form.get(name) ?? '',
    ) as [string, string, string, string]
    if (!this.numbers.has(from))
      return refusal(
        400,
        21606,
        `The 'From' phone number provided (${from}) is not a valid number of this account.`,
      )
    const mediaUrls = form.getAll('MediaUrl')
    if (mediaUrls.length > 10) return refusal(400, 21623, 'Number of media files exceeds allowed limit')
    const sms = { sid: sidOf('SM'), from, to, body, statusCallback, mediaUrls, status: 'queued' }
    this.sent.push(sms)
    if (this.#reports) void this.#reportAll(sms)
    return {
      status: 201,
      body: { sid: sms.sid, status: 'queued', from, to, body, error_code: null, error_message: null },
    }
  }

  /** Failed reports are ignored: the service may have stopped by then. */
  async #reportAll(sms: SentSms): Promise<void> {
    for (const status of ['sent', 'delivered']) await this.report(sms, status).catch(() => undefined)
  }

  #status({ parts: [sid] }: Call): Reply {
    const sms = this.sent.find((each) => each.sid === sid)
    return sms
      ? { status: 200, body: { sid, status: sms.status, error_code: null, error_message: null } }
      : NOT_FOUND
  }

  #offer({ parts: [country, kind] }: Call): Reply {
    if (country !== 'US' || kind !== 'Local') return NOT_FOUND
    const free = FOR_SALE.filter((value) => !this.numbers.has(value))
    return {
      status: 200,
      body: {
        available_phone_numbers: free.map((phone_number) => ({ phone_number, locality: 'Springfield' })),
      },
    }
  }

  #buy({ form }: Call): Reply {
    const value = form.get('PhoneNumber') ?? ''
    if (this.numbers.has(value) || !FOR_SALE.includes(value))
      return refusal(400, 21422, `PhoneNumber ${value} is not available.`)
    const sid = sidOf('PN')
    this.numbers.set(value, { sid, smsUrl: form.get('SmsUrl') ?? '' })
    return { status: 201, body: { sid, phone_number: value } }
  }

  #list({ query }: Call): Reply {
    const wanted = query.get('PhoneNumber')
    const found = [...this.numbers].filter(([value]) => wanted === null || value === wanted)
    return {
      status: 200,
      body: {
        incoming_phone_numbers: found.map(([phone_number, { sid, smsUrl }]) => ({
          sid,
          phone_number,
          sms_url: smsUrl,
        })),
      },
    }
  }

  #change({ parts: [method, sid], form }: Call): Reply {
    const [value, number] = [...this.numbers].find(([, each]) => each.sid === sid) ?? []
    if (!value || !number) return NOT_FOUND
    if (method === 'DELETE') return this.numbers.delete(value) ? { status: 204 } : NOT_FOUND
    number.smsUrl = form.get('SmsUrl') ?? number.smsUrl
    return { status: 200, body: { sid, phone_number: value } }
  }
}
