import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPrivate, writePrivate } from '../../core/private-file.ts'
import type { TlsPair } from '../../core/tls-pair.ts'

const DAY_MS = 86_400_000

const readIfThere = (file: string): Promise<string | null> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })

const newKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()

const certificateOf = async (key: string, name: string, now: Date): Promise<string> => {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString()
  const { default: selfsigned } = await import('selfsigned') // needed once: it takes a twelfth of the service's start
  const { cert } = await selfsigned.generate([{ name: 'commonName', value: name }], {
    keyPair: { privateKey: key, publicKey },
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now.getTime() - DAY_MS),
    notAfterDate: new Date(now.getTime() + 3650 * DAY_MS),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  return cert
}

/** Returns a new self-signed certificate for a process that keeps nothing on disk. */
export const passingCertificate = async (name: string, now: Date): Promise<TlsPair> => {
  const key = newKey()
  return { cert: await certificateOf(key, name, now), key }
}

/**
 * Returns the self-signed certificate for STARTTLS that is used if the operator provides none. It is created
 * once for `name`, valid for ten years, and stored in `dataDir` as smtp.crt and smtp.key (0600). Sending
 * servers accept it because they encrypt opportunistically; the key pair that smtp-server ships with is
 * public and would protect nothing. Of several processes that start at once, all use the key of the first one.
 */
export async function ownCertificate(dataDir: string, name: string, now: Date): Promise<TlsPair> {
  const [certFile, keyFile] = [join(dataDir, 'smtp.crt'), join(dataDir, 'smtp.key')]
  await mkdir(dataDir, { recursive: true })
  if ((await readIfThere(keyFile)) === null) await createPrivate(keyFile, newKey())
  const key = await readFile(keyFile, 'utf8')
  const stored = await readIfThere(certFile)
  if (stored && new X509Certificate(stored).checkPrivateKey(createPrivateKey(key)))
    return { cert: stored, key }
  const cert = await certificateOf(key, name, now)
  await writePrivate(certFile, cert)
  return { cert, key }
}
