import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { AmsError } from '../errors.ts'
import { FrameParser } from '../sse.ts'
import type { Command } from './command.ts'
import { type Credentials, readCredentials } from './settings.ts'
import { shellWord } from './terminal/terminal.ts'

interface Rpc {
  id?: string | number | null
  method?: string
  params?: { requestId?: string | number; name?: unknown; uri?: unknown; _meta?: Record<string, unknown> }
  result?: { protocolVersion?: unknown }
}

/** The installed file: npx would look for a package called ams on npm, and give it the token. */
export const MAIN = fileURLToPath(new URL('main.js', import.meta.url))

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
const INTERNAL_ERROR = -32603
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

const errorFor = (id: Rpc['id'], code: number, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } })

/** Copies messages between standard input and output and the service's `/mcp`. */
export class Bridge {
  readonly #credentials: Credentials
  readonly #write: (line: string) => void
  readonly #introduce: (result: object) => object
  readonly #open = new Map<string | number, AbortController>()
  #version: string | undefined

  /** `introduce` may add to what the service answers to `initialize`. */
  constructor(
    credentials: Credentials,
    write: (line: string) => void,
    introduce: (result: object) => object = (result) => result,
  ) {
    this.#credentials = credentials
    this.#write = write
    this.#introduce = introduce
  }

  /** Sends one line; resolves when its answer is complete. Never rejects. */
  async send(line: string): Promise<void> {
    let message: Rpc | null
    try {
      message = JSON.parse(line)
    } catch {
      return this.#write(errorFor(null, PARSE_ERROR, 'This line is not JSON.'))
    }
    if (typeof message !== 'object' || message === null)
      return this.#write(errorFor(null, INVALID_REQUEST, 'This line is not a message.'))
    const { id, method, params } = message
    // Over HTTP, a request is cancelled by ending it.
    if (method === 'notifications/cancelled' && params?.requestId !== undefined)
      return this.#open.get(params.requestId)?.abort()
    const leaving = new AbortController()
    if (id !== undefined && id !== null) this.#open.set(id, leaving)
    try {
      await this.#post(line, message, leaving.signal)
    } catch (error) {
      if (!leaving.signal.aborted && id !== undefined)
        this.#write(
          errorFor(id, INTERNAL_ERROR, `The service cannot be reached: ${(error as Error).message}`),
        )
    } finally {
      if (id !== undefined && id !== null) this.#open.delete(id)
    }
  }

  close(): void {
    for (const one of this.#open.values()) one.abort()
  }

  #headers({ method, params }: Rpc): Record<string, string> {
    const version = params?._meta?.[VERSION_KEY] ?? this.#version
    const name = params?.uri ?? (method === 'tools/call' ? params?.name : undefined)
    return {
      authorization: `Bearer ${this.#credentials.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(typeof version === 'string' ? { 'mcp-protocol-version': version } : {}),
      ...(method === undefined ? {} : { 'mcp-method': method }),
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    }
  }

  async #post(body: string, message: Rpc, signal: AbortSignal): Promise<void> {
    const url = `${this.#credentials.url.replace(/\/$/, '')}/mcp`
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      headers: this.#headers(message),
      body,
      signal,
    })
    if (response.headers.get('content-type')?.startsWith('text/event-stream'))
      return this.#stream(message, response)
    const text = await response.text()
    if (message.id === undefined) return
    try {
      const answer = JSON.parse(text) as Rpc
      this.#answer(message, { ...answer, id: message.id })
    } catch {
      throw new AmsError('bad_response', `status ${response.status}`)
    }
  }

  async #stream(request: Rpc, response: Response): Promise<void> {
    const [parser, decoder] = [new FrameParser(), new TextDecoder()]
    for await (const chunk of response.body ?? [])
      for (const { data } of parser.push(decoder.decode(chunk as Uint8Array, { stream: true }))) {
        this.#answer(request, JSON.parse(data) as Rpc)
      }
  }

  #answer({ method }: Rpc, answer: Rpc): void {
    const { result } = answer
    // Later requests of a client of 2025 name the version in a header only.
    if (typeof result?.protocolVersion === 'string') this.#version = result.protocolVersion
    const introduced =
      method === 'initialize' && result ? { ...answer, result: this.#introduce(result) } : answer
    this.#write(JSON.stringify(introduced))
  }
}

/** Passes lines of standard input on until the host closes it. `take` returns whether a line is not for the service. */
export const serveStdio = async (
  bridge: Bridge,
  take: (line: string) => boolean = () => false,
): Promise<void> => {
  const sent = new Set<Promise<void>>()
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '' || take(line)) continue
    const sending = bridge.send(line).finally(() => sent.delete(sending))
    sent.add(sending)
    // Its answer says which protocol the others speak.
    if (line.includes('"initialize"')) await sending
  }
  bridge.close()
  await Promise.all(sent)
}

export const mcp: Command = {
  usage: 'mcp',
  summary: 'connect an MCP host that supports only stdio to the service',
  options: {},
  examples: ['ams mcp', `claude mcp add inbox -- node ${shellWord(MAIN)} mcp`],
  run: async (input) => {
    input.atMost(0)
    await serveStdio(new Bridge(await readCredentials(), (line) => process.stdout.write(`${line}\n`)))
    return undefined
  },
}
