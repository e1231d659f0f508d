import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { afterFile } from './after-file.ts'

/** An OpenID provider of a company that does as it is told, also what none may: it takes a code again. */
export interface Company {
  readonly origin: string
  issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** What the next ID tokens say besides the protocol's claims; `undefined` leaves one out. */
  claims: Record<string, unknown>
  /** What the document of the discovery says besides. */
  metadata: Record<string, unknown>
  /** What the userinfo endpoint says; null for no such endpoint. */
  userinfo: Record<string, unknown> | null
  /** Signs ID tokens in another way than the published keys do. */
  sign: ((payload: JWTPayload) => Promise<string>) | null
  /** Answers requests of one path in another way. */
  answers: Map<string, (response: ServerResponse) => void>
  /** Requests by path. */
  readonly seen: { path: string; body: string; authorization: string | undefined }[]
  rotate(): Promise<void>
  /** What a person does at the provider: returns the path on the service that it sends the browser back to. */
  approve(url: string): string
  logoutToken(claims: Record<string, unknown>): Promise<string>
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const signed = async (payload: JWTPayload, kid: string, key: CryptoKey): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid }).sign(key)

/** `path` is that of its issuer. */
export const openCompany = async (path = ''): Promise<Company> => {
  let pair = await generateKeyPair('RS256')
  let kid = randomUUID()
  const codes = new Map<string, URLSearchParams>()
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  afterFile(() => {
    server.closeAllConnections()
    server.close()
  })
  const company: Company = {
    ...{ origin, issuer: origin + path, clientId: 'ams', clientSecret: 'a secret: 100%+&' },
    ...{ claims: {}, metadata: {}, userinfo: null, sign: null, answers: new Map(), seen: [] },
    rotate: async () => {
      pair = await generateKeyPair('RS256')
      kid = randomUUID()
    },
    approve: (url) => {
      const { searchParams } = new URL(url)
      const code = randomUUID()
      codes.set(code, searchParams)
      const back = new URL(searchParams.get('redirect_uri')!)
      back.searchParams.set('code', code)
      back.searchParams.set('state', searchParams.get('state')!)
      return back.pathname + back.search
    },
    logoutToken: (claims) =>
      signed(
        {
          ...{ iss: company.issuer, aud: company.clientId, iat: now(), jti: randomUUID() },
          events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
          ...claims,
        },
        kid,
        pair.privateKey,
      ),
  }
  const now = () => Math.floor(Date.now() / 1000)

  const idToken = (asked: URLSearchParams): Promise<string> => {
    const payload = {
      ...{ iss: company.issuer, aud: company.clientId, sub: 'u1', iat: now(), exp: now() + 300 },
      nonce: asked.get('nonce'),
      ...company.claims,
    } as JWTPayload
    return company.sign ? company.sign(payload) : signed(payload, kid, pair.privateKey)
  }

  const token = async (body: string): Promise<[number, object]> => {
    const form = new URLSearchParams(body)
    const asked = codes.get(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isGood =
      asked?.get('code_challenge') === challenge && asked.get('redirect_uri') === form.get('redirect_uri')
    if (!asked || !isGood) return [400, { error: 'invalid_grant' }]
    return [200, { access_token: 'at', token_type: 'Bearer', id_token: await idToken(asked) }]
  }

  const documents: Record<string, (body: string) => Promise<[number, object]>> = {
    [`${path}/.well-known/openid-configuration`]: async () => [
      200,
      {
        ...{ issuer: company.issuer, authorization_endpoint: `${origin}/authorize` },
        ...{ token_endpoint: `${origin}/token`, jwks_uri: `${origin}/jwks` },
        ...(company.userinfo && { userinfo_endpoint: `${origin}/userinfo` }),
        ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
        id_token_signing_alg_values_supported: ['RS256'],
        ...company.metadata,
      },
    ],
    '/jwks': async () => [
      200,
      { keys: [{ ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' }] },
    ],
    '/token': token,
    '/userinfo': async () => [200, company.userinfo ?? {}],
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [asked = ''] = (request.url ?? '').split('?')
    const body = await bodyOf(request)
    company.seen.push({ path: asked, body, authorization: request.headers.authorization })
    const other = company.answers.get(asked)
    if (asked === '/authorize') {
      const { searchParams } = new URL(request.url ?? '', origin)
      const back =
        new URL(searchParams.get('redirect_uri')!).origin + company.approve(`${origin}${request.url}`)
      response.writeHead(302, { Location: back }).end()
      return
    }
    if (other) return other(response)
    const [status, content] = (await documents[asked]?.(body)) ?? [404, {}]
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(content))
  }
  return company
}

/** An ID token without a signature. */
export const unsigned = async (payload: JWTPayload): Promise<string> => new UnsecuredJWT(payload).encode()
/** An ID token whose signature is of a secret that both sides know. */
export const signedWithSecret = (secret: string) => (payload: JWTPayload) =>
  new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret))
/** An ID token that is signed with somebody's key. */
export const signedBySomebody = async (payload: JWTPayload): Promise<string> =>
  signed(payload, 'unknown', (await generateKeyPair('RS256')).privateKey)

/** The URL that a page of the service leads on to by itself. */
export const nextOf = ({ text }: { text: string }): string =>
  (/content="0; url=([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&')
