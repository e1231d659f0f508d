import { until } from './until.ts'

export interface Frame {
  id: number | null
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields
  data: any
}

/** An open event stream, parsed as the HTML standard requires. */
export interface EventStream {
  readonly status: number
  readonly headers: Headers
  /** Text before the first event's frame. */
  readonly opening: string
  readonly frames: Frame[]
  /** Resolves with the frames once there are at least `count`. */
  got(count: number): Promise<Frame[]>
  /** Resolves when the server ends the stream; rejects when the connection breaks. */
  readonly ended: Promise<void>
  /** Disconnects. */
  close(): void
}

const parse = (block: string): Frame | null => {
  const fields = block.split('\n').map((line) => /^(id|event|data): (.*)$/.exec(line))
  const value = (name: string) => fields.find((field) => field?.[1] === name)?.[2]
  const [id, event, data] = [value('id'), value('event'), value('data')]
  return event === undefined || data === undefined
    ? null
    : { id: id === undefined ? null : Number(id), event, data: JSON.parse(data) }
}

export async function openEvents(
  url: string,
  token: string,
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const leaving = new AbortController()
  const response = await fetch(url, {
    headers: { Authorization: `Bearer ${token}`, ...headers },
    signal: leaving.signal,
  })
  const frames: Frame[] = []
  let opening = ''
  const read = async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        const frame = parse(block)
        if (frame) frames.push(frame)
        else if (frames.length === 0) opening += `${block}\n\n`
      }
    }
  }
  const ended = read()
  ended.catch(() => undefined)
  return {
    status: response.status,
    headers: response.headers,
    get opening() {
      return opening
    },
    frames,
    got: async (count) => {
      await until(() => frames.length >= count)
      return frames
    },
    ended,
    close: () => leaving.abort(),
  }
}
