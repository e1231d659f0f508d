import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AmsError } from '../errors.ts'
import { openBrowser } from './browser.ts'
import type { Terminal } from './terminal/terminal.ts'

/** A member has this long to sign in and to choose an agent. */
const PATIENCE_MS = 10 * 60_000
const CLIENT_ID = 'ams'
const REQUEST_TIMEOUT_MS = 30_000

const random = (): string => randomBytes(32).toString('base64url')

/** The authorization server's endpoints (RFC 8414). */
interface Endpoints {
  issuer: string
  authorization_endpoint: string
}

const ask = async (url: string, init: RequestInit = {}): Promise<Record<string, unknown>> => {
  let response: Response
  try {
    response = await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
  } catch (cause) {
    throw new AmsError('unreachable', `${new URL(url).origin} cannot be reached.`, { cause })
  }
  const body = await response.json().catch(() => null)
  if (response.ok && body !== null) return body as Record<string, unknown>
  const why = (body as { error_description?: string } | null)?.error_description
  throw new AmsError('unauthorized', why ?? `${url} answered ${response.status}.`, {
    status: response.status,
  })
}

const page = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>ams</title><p>${text}</p>`

/** What the browser brings back from the consent page. */
type Answer = { code: string } | { error: string }

const answerIn = (query: URLSearchParams, state: string, issuer: string): Answer | null => {
  // Another page or program of this computer could call too: only the answer to our own request counts.
  if (query.get('state') !== state || query.get('iss') !== issuer) return null
  const code = query.get('code')
  return code === null
    ? { error: query.get('error_description') ?? query.get('error') ?? 'denied' }
    : { code }
}

/** Waits for the browser on a port of this computer only (RFC 8252, 7.3). */
const listenForAnswer = async (state: string, issuer: string) => {
  let settle: (answer: Answer) => void = () => undefined
  const answered = new Promise<Answer>((resolve) => {
    settle = resolve
  })
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const answer = pathname === '/callback' ? answerIn(searchParams, state, issuer) : null
    const headers = {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      Connection: 'close',
    }
    if (answer === null) response.writeHead(404, headers).end(page('This is not the answer to ams login.'))
    else response.writeHead(200, headers).end(page('You can close this page and return to the terminal.'))
    if (answer !== null) settle(answer)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    redirectUri: `http://127.0.0.1:${port}/callback`,
    answered,
    close: () => void server.close(),
  }
}

const inTime = async <Value>(promise: Promise<Value>): Promise<Value> => {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_resolve, reject) => {
    const late = () => reject(new AmsError('unauthorized', 'Nobody signed in within ten minutes.'))
    timer = setTimeout(late, PATIENCE_MS)
  })
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer))
}

/**
 * Signs in in a browser: a member chooses the agent on the consent page (OAuth 2.1, authorization code with
 * PKCE). Returns the access token.
 */
export const loginInBrowser = async (url: string, terminal: Terminal): Promise<string> => {
  const base = url.replace(/\/$/, '')
  const found = (await ask(`${base}/.well-known/oauth-authorization-server`)) as unknown as Endpoints
  const [verifier, state] = [random(), random()]
  const listener = await listenForAnswer(state, found.issuer)
  try {
    const { redirectUri, answered } = listener
    const target = new URL(found.authorization_endpoint)
    if (!/^https?:$/.test(target.protocol))
      throw new AmsError('bad_response', 'The sign-in page is not on the web.')
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    target.search = new URLSearchParams({
      ...{ response_type: 'code', client_id: CLIENT_ID, redirect_uri: redirectUri, state },
      ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    }).toString()
    terminal.note(`Sign in in your browser. If it did not open, open this page:\n${target.href}`)
    openBrowser(target.href)
    const answer = await inTime(answered)
    if ('error' in answer) throw new AmsError('forbidden', `Not signed in: ${answer.error}.`)
    const body = new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id: CLIENT_ID, code: answer.code },
      ...{ redirect_uri: redirectUri, code_verifier: verifier },
    })
    const { access_token: token } = await ask(`${base}/oauth/token`, { method: 'POST', body })
    return String(token)
  } finally {
    listener.close()
  }
}

/** Ends what `loginInBrowser` began (RFC 7009): the token is no longer valid, and the app no longer connected. */
export const endLogin = async (url: string, token: string): Promise<void> => {
  const body = new URLSearchParams({ token, client_id: CLIENT_ID })
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  try {
    const { ok, status } = await fetch(`${url.replace(/\/$/, '')}/oauth/revoke`, {
      method: 'POST',
      body,
      signal,
    })
    if (!ok) throw new AmsError('unavailable', `The token could not be revoked (${status}).`, { status })
  } catch (error) {
    if (error instanceof AmsError) throw error
    throw new AmsError('unreachable', `${url} cannot be reached.`, { cause: error })
  }
}
