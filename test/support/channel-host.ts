import { createInterface } from 'node:readline'
import { type Ams, startAms } from './ams.ts'
import { until } from './until.ts'

/** A message that was pushed into a session. */
export interface Turn {
  content: string
  meta: Record<string, string>
  at: number
}
// biome-ignore lint/suspicious/noExplicitAny: what another program writes
type Line = any

/** A host of `ams channel` with one session, which speaks the protocol of Claude Code's channels; its turns outlive it, as a session that is resumed does. */
export class Host {
  readonly ams: Ams
  readonly lines: Line[] = []
  readonly turns: Turn[]
  #id = 0

  constructor(env: Record<string, string>, turns: Turn[]) {
    this.turns = turns
    this.ams = startAms(env, ['channel'])
    createInterface({ input: this.ams.child.stdout! }).on('line', (line) => this.#take(JSON.parse(line)))
  }

  #take(line: Line): void {
    this.lines.push(line)
    if (line.method === 'notifications/claude/channel') this.turns.push({ ...line.params, at: Date.now() })
    if (line.method === 'ping') this.write({ id: line.id, result: {} })
  }

  write(message: object): void {
    this.ams.child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  /** Goes as a host that is killed: both of its pipes break. */
  die(): void {
    this.ams.child.stdout!.destroy()
    this.ams.child.stdin!.destroy()
  }

  async request(method: string, params: object = {}): Promise<Line> {
    const id = ++this.#id
    this.write({ id, method, params })
    await until(() => this.lines.some((line) => line.id === id))
    return this.lines.find((line) => line.id === id)
  }

  async open(): Promise<Line> {
    const about = { clientInfo: { name: 'claude-code', version: '2' }, capabilities: {} }
    const { result } = await this.request('initialize', { protocolVersion: '2025-11-25', ...about })
    this.write({ method: 'notifications/initialized' })
    return result
  }
}
