import { bytes, http, matching, type Parse } from './parse.ts'
import type { Reader } from './reader.ts'

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/
const PREFIX = /^(?:[A-Za-z0-9._-]{1,100}\/){0,8}$/
const REGION = /^[A-Za-z0-9-]{1,40}$/

interface BlobUrl {
  bucket: string
  prefix: string
  endpoint: string | undefined
  region: string | undefined
}

const TAKES = 's3://BUCKET or s3://BUCKET/PREFIX, with ?endpoint=URL and &region=NAME or without'

const blobUrl: Parse<BlobUrl> = (text) => {
  const invalid = new Error(TAKES)
  if (!URL.canParse(text)) throw invalid
  const { protocol, host: bucket, pathname, username, password, searchParams, hash } = new URL(text)
  const prefix = pathname.replace(/^\/|\/$/g, '').replace(/.$/, '$&/')
  if (protocol !== 's3:' || !BUCKET.test(bucket) || !PREFIX.test(prefix)) throw invalid
  if (username || password || hash) throw invalid
  const { endpoint, region, ...others } = Object.fromEntries(searchParams)
  if (Object.keys(others).length > 0 || (region !== undefined && !REGION.test(region))) throw invalid
  return { bucket, prefix, endpoint: endpoint === undefined ? undefined : http(endpoint), region }
}

const region = matching(REGION, 'the name of a region')
const printable = matching(/^[\x21-\x7e]{1,4096}$/, 'printable characters without spaces')

/**
 * With an endpoint the bucket is in the path, as every compatible server understands it; at Amazon it is in the host
 * name, except for a bucket with a dot, which Amazon's certificate does not cover.
 */
const urlOf = (bucket: string, place: string, endpoint: string | undefined): string => {
  if (endpoint !== undefined) return `${endpoint}/${bucket}`
  const host = `s3.${place}.amazonaws.com${place.startsWith('cn-') ? '.cn' : ''}`
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`
}

/**
 * Reads the settings of the object store. The variables of AWS's own tools are only read with BLOB_URL: without it
 * they are for other programs. `Bucket` describes the result.
 */
export const readObjectStore = (reader: Reader) => {
  const minBytes = reader.read('BLOB_MIN_BYTES', bytes) ?? 2048
  if (!reader.isSet('BLOB_URL')) return undefined
  const parsed = reader.read('BLOB_URL', blobUrl)
  const accessKeyId = reader.read('AWS_ACCESS_KEY_ID', printable)
  const secretAccessKey = reader.read('AWS_SECRET_ACCESS_KEY', printable)
  const sessionToken = reader.read('AWS_SESSION_TOKEN', printable)
  const given = reader.read('AWS_ENDPOINT_URL_S3', http) ?? reader.read('AWS_ENDPOINT_URL', http)
  const ownRegion = reader.read('AWS_REGION', region) ?? reader.read('AWS_DEFAULT_REGION', region)
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
    if (!reader.isSet(name)) reader.problems.push(`${name} is not set; BLOB_URL needs it.`)
  if (!parsed || accessKeyId === undefined || secretAccessKey === undefined) return undefined
  const place = parsed.region ?? ownRegion ?? 'us-east-1'
  const url = urlOf(parsed.bucket, place, parsed.endpoint ?? given)
  return { url, prefix: parsed.prefix, region: place, accessKeyId, secretAccessKey, sessionToken, minBytes }
}
