import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterFile } from './after-file.ts'

/**
 * A small S3 server with one bucket. It checks signatures (AWS Signature Version 4, with Node's own crypto) and
 * checksums, as Amazon describes them, and can be made to misbehave.
 */
export interface TestBucket {
  environment: Record<string, string>
  /** The objects by key. */
  objects: Map<string, Buffer>
  /** Requests that were accepted, as `PUT key`. */
  requests: string[]
  /** Called before a request is answered, with its method and key. May wait, or return a status to answer with. */
  before: (method: string, key: string) => Promise<number | undefined> | number | undefined
  /** Refuses connections until `start`. */
  stop(): Promise<void>
  start(): Promise<void>
}

const BUCKET = 'mails'
const ID = 'AKIATEST'
const SECRET = 'secret/of+the=test'
const REGION = 'eu-test-1'

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Whether the request is signed as Amazon's documentation says. */
const isSigned = ({ method, url, headers }: IncomingMessage): boolean => {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})$/.exec(
      headers.authorization ?? '',
    )
  if (!parts) return false
  const [, id, day, region, signed, signature] = parts as unknown as string[]
  const canonical = [
    ...[method, url!, ''],
    ...signed!.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    ...['', signed, headers['x-amz-content-sha256']],
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = hmac(hmac(hmac(hmac(`AWS4${SECRET}`, day!), region!), 's3'), 'aws4_request')
  return id === ID && region === REGION && hmac(key, text).toString('hex') === signature
}

export const openBucket = async (): Promise<TestBucket> => {
  const objects = new Map<string, Buffer>()
  let port = 0
  let server: Server
  const answer = (response: ServerResponse, status: number, code: string) =>
    response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`)

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    const { method = '', url = '', headers } = request
    if (!isSigned(request)) return void answer(response, 403, 'SignatureDoesNotMatch')
    if (sha256(body) !== headers['x-amz-content-sha256'])
      return void answer(response, 400, 'XAmzContentSHA256Mismatch')
    if (!url.startsWith(`/${BUCKET}/`)) return void answer(response, 404, 'NoSuchBucket')
    const key = url.slice(BUCKET.length + 2)
    const status = await bucket.before(method, key)
    if (status) return void answer(response, status, 'ToldByTheTest')
    bucket.requests.push(`${method} ${key}`)
    if (method === 'PUT') objects.set(key, body)
    if (method === 'DELETE') objects.delete(key)
    if (method === 'GET' && !objects.has(key)) return void answer(response, 404, 'NoSuchKey')
    response.writeHead(method === 'DELETE' ? 204 : 200).end(method === 'GET' ? objects.get(key) : '')
  }

  const bucket: TestBucket = {
    environment: {},
    objects,
    requests: [],
    before: () => undefined,
    start: async () => {
      server = createServer(
        (request, response) => void handle(request, response).catch(() => response.destroy()),
      )
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
      port = (server.address() as AddressInfo).port
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  await bucket.start()
  bucket.environment = {
    BLOB_URL: `s3://${BUCKET}/ams`,
    BLOB_MIN_BYTES: '0',
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: ID,
    AWS_SECRET_ACCESS_KEY: SECRET,
  }
  afterFile(() => bucket.stop())
  return bucket
}
