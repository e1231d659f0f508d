import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Chat, InlineKeyboardMarkup, Message, Update, User } from '@grammyjs/types'
import { readForm } from './form.ts'
import { type Arguments, METHODS, Refusal } from './methods.ts'
import { type Sent, type StandInBot, World } from './world.ts'

/** Replaces the response to the next calls of a method (in lower case). */
export interface Fault {
  method: string
  /** Number of calls that succeed before it applies. */
  after?: number
  /** Number of calls that it applies to; all if omitted. */
  times?: number
  answer(response: ServerResponse): void
}

/**
 * A stand-in for Telegram that needs no account: the part of the Bot API that the service uses, and people
 * who write to bots.
 */
export interface TelegramStandIn {
  /** The value for `TELEGRAM_API_URL`. */
  readonly url: string
  readonly world: World
  /** Messages that bots have sent, oldest first. */
  readonly sent: readonly Sent[]
  /** All calls so far, with `method` in lower case. */
  readonly calls: { bot: StandInBot; method: string; args: Arguments }[]
  readonly faults: Fault[]
  /** Rejects the next calls of a method (in lower case) with this error. */
  refuse(method: string, code: number, description: string, times: number, parameters?: object): void
  /** Rejects the next call of a method with a request to wait for a number of seconds. */
  flood(method: string, seconds: number): void
  /**
   * Writes to a bot, or into a group, as a person; resolves when the bot's webhook has accepted the update,
   * or immediately if there is none.
   */
  write(bot: StandInBot, from: User, content: string | object, chat?: Chat): Promise<Message>
  /** Taps a button below a message of a bot, as a person; `data` instead of that of the button. Resolves with what the bot answers. */
  tap(message: Message, label: string, from: User, data?: string): Promise<string | undefined>
  /** Creates a bot with a manager's link, as a person. */
  createManaged(manager: StandInBot, owner: User, username: string, name?: string): Promise<StandInBot>
  /**
   * Posts an update to the bot's webhook again, as Telegram does when a response was lost; resolves with the
   * response's status.
   */
  post(bot: StandInBot, update: object, secret?: string | null): Promise<number>
  /** Resolves when no bot with a webhook has pending updates. */
  drained(): Promise<void>
  /** Reopens the port after `stop`. */
  start(): Promise<unknown>
  stop(): Promise<void>
}

/** Delay before an update that was not accepted is posted again. Telegram waits longer. */
const RETRY_MS = 50

const argumentsOf = async (request: IncomingMessage, url: URL): Promise<Arguments> => {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const type = request.headers['content-type'] ?? ''
  const query = Object.fromEntries(url.searchParams)
  if (body.length === 0) return query
  if (type.startsWith('application/json')) return { ...query, ...(JSON.parse(body.toString()) as Arguments) }
  const args: Arguments = { ...query, ...readForm(body, type) }
  // Files that a form refers to by `attach://name`.
  for (const [name, value] of Object.entries(args)) {
    if (typeof value === 'string' && value.startsWith('attach://'))
      args[name] = args[value.slice('attach://'.length)]
  }
  return args
}

const json = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))

const refuse = (response: ServerResponse, { code, message, parameters }: Refusal): void =>
  json(response, code, {
    ok: false,
    error_code: code,
    description: message,
    ...(parameters ? { parameters } : {}),
  })

class StandIn implements TelegramStandIn {
  readonly world = new World()
  readonly calls: TelegramStandIn['calls'] = []
  readonly faults: Fault[] = []
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  readonly #posting = new Map<StandInBot, Promise<void>>()
  #stopped = false
  url = ''

  async start(): Promise<this> {
    this.#stopped = false
    const port = this.url === '' ? 0 : Number(new URL(this.url).port)
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  get sent(): readonly Sent[] {
    return this.world.sent
  }

  refuse(method: string, code: number, description: string, times: number, parameters?: object): void {
    this.faults.push({
      method,
      times,
      answer: (response) => refuse(response, new Refusal(code, description, parameters)),
    })
  }

  flood(method: string, seconds: number): void {
    this.refuse(method, 429, `Too Many Requests: retry after ${seconds}`, 1, { retry_after: seconds })
  }

  async write(bot: StandInBot, from: User, content: string | object, chat?: Chat): Promise<Message> {
    const place =
      chat ?? ({ id: from.id, type: 'private', first_name: from.first_name, username: from.username } as Chat)
    const message = this.world.write(place, from, typeof content === 'string' ? { text: content } : content)
    bot.chats.add(place.id)
    this.world.queue(bot, { message } as Omit<Update, 'update_id'>)
    await this.#deliver(bot)
    return message
  }

  async tap(message: Message, label: string, from: User, given?: string): Promise<string | undefined> {
    const { inline_keyboard: lines = [] } =
      (message as { reply_markup?: InlineKeyboardMarkup }).reply_markup ?? {}
    const button = lines.flat().find(({ text }) => text === label)
    const data = given ?? (button as { callback_data?: string } | undefined)?.callback_data
    if (data === undefined) throw new Error(`the message has no button ${label}`)
    const bot = this.world.bots.get(message.from!.id)!
    const tapped = { id: String(this.world.notices.length + 1), from, chat_instance: '1', message, data }
    this.world.queue(bot, { callback_query: tapped } as unknown as Omit<Update, 'update_id'>)
    await this.#deliver(bot)
    return this.world.notices.at(-1)
  }

  async createManaged(
    manager: StandInBot,
    owner: User,
    username: string,
    name = username,
  ): Promise<StandInBot> {
    const bot = this.world.bot(username, { name, manager })
    this.world.queue(manager, { managed_bot: { user: owner, bot: bot.user } })
    await this.#deliver(manager)
    return bot
  }

  async post(
    { webhook }: StandInBot,
    update: object,
    secret: string | null = webhook?.secret ?? null,
  ): Promise<number> {
    const headers: Record<string, string> = { 'Content-Type': 'application/json' }
    if (secret !== null) headers['X-Telegram-Bot-Api-Secret-Token'] = secret
    const response = await fetch(webhook!.url, { method: 'POST', headers, body: JSON.stringify(update) })
    await response.arrayBuffer()
    return response.status
  }

  async drained(): Promise<void> {
    for (;;) {
      const waiting = [...this.world.bots.values()].filter(
        ({ webhook, updates }) => webhook && updates.length > 0,
      )
      if (waiting.length === 0) return
      await Promise.all(waiting.map((bot) => this.#deliver(bot)))
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  /** Posts updates one after the other, repeating each until it is accepted. */
  #deliver(bot: StandInBot): Promise<void> {
    const running = this.#posting.get(bot)
    if (running) return running.then(() => this.#deliver(bot))
    const posting = this.#postAll(bot).finally(() => this.#posting.delete(bot))
    this.#posting.set(bot, posting)
    return posting
  }

  async #postAll(bot: StandInBot): Promise<void> {
    while (bot.webhook && bot.updates.length > 0 && !this.#stopped) {
      const [update] = bot.updates
      const wanted = bot.webhook.allowed.length === 0 || bot.webhook.allowed.some((kind) => kind in update!)
      const status = wanted ? await this.post(bot, update!).catch(() => 0) : 200
      if (status >= 200 && status < 300) bot.updates.shift()
      else await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = new URL(request.url ?? '/', this.url)
      const [, isFile, token = '', rest = ''] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(url.pathname) ?? []
      const bot = this.world.byToken(decodeURIComponent(token))
      if (!bot) throw /^\d+:/.test(token) ? new Refusal(401, 'Unauthorized') : new Refusal(404, 'Not Found')
      if (isFile) return this.#download(response, decodeURIComponent(rest))
      await this.#call(bot, rest.toLowerCase(), await argumentsOf(request, url), response)
    } catch (error) {
      refuse(response, error instanceof Refusal ? error : new Refusal(400, `Bad Request: ${String(error)}`))
    }
  }

  async #call(bot: StandInBot, method: string, args: Arguments, response: ServerResponse): Promise<void> {
    this.calls.push({ bot, method, args })
    if (this.#fails(method, response)) return
    const call = METHODS[method]
    if (!call) throw new Refusal(404, 'Not Found')
    json(response, 200, { ok: true, result: await call(this.world, bot, args) })
  }

  /** Returns whether a fault has responded in place of the method. */
  #fails(method: string, response: ServerResponse): boolean {
    const fault = this.faults.find((each) => each.method === method && (each.times ?? 1) > 0)
    if (fault?.after) {
      fault.after--
      return false
    }
    if (fault?.times !== undefined) fault.times--
    fault?.answer(response)
    return fault !== undefined
  }

  #download(response: ServerResponse, path: string): void {
    if (this.#fails('download', response)) return
    const file = [...this.world.files.values()].find((each) => each.path === path)
    if (!file) throw new Refusal(404, 'Not Found')
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(file.content)
  }
}

/** Opens a stand-in for Telegram on a free local port. */
export const openTelegram = (): Promise<TelegramStandIn> => new StandIn().start()
