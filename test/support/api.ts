export interface Answer<Body = unknown> {
  status: number
  headers: Headers
  body: Body
  text: string
}

/** The HTTP API. `body` is sent as JSON; a string is sent unchanged. */
// biome-ignore lint/suspicious/noExplicitAny: tests check the shape of the answers
export type Api = <Body = any>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer<Body>>

export const apiOf =
  (base: string, token: string | null): Api =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(base + path, {
      method,
      headers: {
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : (text as never),
    }
  }

export interface TestAgent {
  id: string
  address: string
  token: string
  api: Api
}

/** Creates an agent of the tenant with its own token. */
export const createTestAgent = async (
  service: { http: string },
  { api }: { api: Api },
  name = 'Support Bot',
): Promise<TestAgent> => {
  const ask = async (...request: Parameters<Api>) => {
    const { status, body, text } = await api(...request)
    if (status >= 300) throw new Error(`${request[0]} ${request[1]}: ${status} ${text}`)
    return body
  }
  const { id } = await ask('POST', '/agents', { name, icon: 'bot' })
  const [{ value: address }] = await ask('GET', `/agents/${id}/addresses`)
  const { token } = await ask('POST', `/agents/${id}/tokens`, { name: 'test' })
  return { id, address, token, api: apiOf(service.http, token) }
}
