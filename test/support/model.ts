import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a model does next. */
export interface Call {
  name: string
  arguments: unknown
}

type Content = string | { text?: string }[]
const textOf = (content: Content): string =>
  typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')

/** Some frameworks put the name of the server before that of a tool. */
const nameIn = (tools: { function: { name: string } }[], name: string): string =>
  tools.find((tool) => tool.function.name.endsWith(name))?.function.name ?? name

/** A model behind the chat completions API: makes the calls that it plans for a prompt in turn, then ends with a text. */
export const startModel = async (plan: (prompt: string) => Call[], end: (lastResult: string) => string) => {
  // biome-ignore lint/suspicious/noExplicitAny: the test reaches into it
  const asked: any[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString())
    asked.push(body)
    const results = body.messages.filter(({ role }: { role: string }) => role === 'tool')
    const [prompt] = body.messages.filter(({ role }: { role: string }) => role === 'user')
    const next = plan(textOf(prompt.content))[results.length]
    const call = next && {
      id: `c${results.length}`,
      type: 'function',
      function: { name: nameIn(body.tools, next.name), arguments: JSON.stringify(next.arguments) },
    }
    const message = call
      ? { role: 'assistant', content: null, tool_calls: [call] }
      : { role: 'assistant', content: end(results.at(-1).content) }
    const choice = { index: 0, message, finish_reason: call ? 'tool_calls' : 'stop' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: `m${asked.length}`, object: 'chat.completion', model: 'scripted', choices: [choice] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { url, asked, close: () => server.close() }
}
