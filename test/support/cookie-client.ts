import type { TestService } from './service.ts'

/** A browser without a screen: keeps cookies, sends its origin with forms, and follows no redirect. */
export interface CookieClient {
  /** Its cookies by name, as in the Cookie header. */
  readonly cookies: Map<string, string>
  get(path: string, headers?: Record<string, string>): Promise<Visited>
  /** Submits a form, as a page of the service would. */
  submit(path: string, form: Record<string, string>, headers?: Record<string, string>): Promise<Visited>
  /** Sends a GraphQL operation with the session, as the web application would. */
  ask(query: string, variables?: object, headers?: Record<string, string>): Promise<Response>
}

export interface Visited {
  status: number
  headers: Headers
  text: string
  location: string | null
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

export const cookieClient = (service: Pick<TestService, 'http'>, userAgent = FIREFOX): CookieClient => {
  const cookies = new Map<string, string>()
  const origin = service.http.replace('127.0.0.1', 'localhost')
  const send = async (path: string, init: RequestInit & { headers: Record<string, string> }) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { 'User-Agent': userAgent, ...(cookie ? { Cookie: cookie } : {}), ...init.headers }
    const response = await fetch(origin + path, { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split('=')
      if (value && !/Max-Age=0/.test(line)) cookies.set(name, value)
      else cookies.delete(name)
    }
    return response
  }
  const visited = async (response: Response): Promise<Visited> => ({
    status: response.status,
    headers: response.headers,
    text: await response.text(),
    location: response.headers.get('location'),
  })
  return {
    cookies,
    get: async (path, headers = {}) => visited(await send(path, { headers })),
    submit: async (path, form, headers = {}) =>
      visited(
        await send(path, {
          method: 'POST',
          body: new URLSearchParams(form),
          headers: { Origin: origin, ...headers },
        }),
      ),
    ask: (query, variables = {}, headers = {}) =>
      send('/graphql', {
        method: 'POST',
        body: JSON.stringify({ query, variables }),
        headers: { 'Content-Type': 'application/json', 'X-Requested-By': 'test', Origin: origin, ...headers },
      }),
  }
}

/** Returns the form token of a page. */
export const formTokenIn = ({ text }: Visited): string => /name="form" value="([^"]+)"/.exec(text)?.[1] ?? ''

/** Returns a browser in which the owner of the token is signed in. */
export const signedIn = async (service: Pick<TestService, 'http'>, token: string, userAgent?: string) => {
  const browser = cookieClient(service, userAgent)
  await browser.submit('/app/sign-in/token', { token })
  return browser
}
