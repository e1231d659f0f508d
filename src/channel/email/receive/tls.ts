import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { writePrivate } from '../../../core/private-file.ts'

/** A certificate and its private key in PEM. */
export interface TlsPair {
  readonly cert: string
  readonly key: string
}

const DAY_MS = 86_400_000

/**
 * Returns the self-signed certificate for STARTTLS that is used if the operator provides none. It is created
 * once for `name`, valid for ten years, and stored in `dataDir` as smtp.crt and smtp.key (0600). Sending
 * servers accept it because they encrypt opportunistically; the key pair that smtp-server ships with is
 * public and would protect nothing.
 */
export async function ownCertificate(dataDir: string, name: string, now: Date): Promise<TlsPair> {
  const [certFile, keyFile] = [join(dataDir, 'smtp.crt'), join(dataDir, 'smtp.key')]
  try {
    return { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const generated = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now.getTime() - DAY_MS),
    notAfterDate: new Date(now.getTime() + 3650 * DAY_MS),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  await mkdir(dataDir, { recursive: true })
  // The certificate is written last: if it exists, the key does too.
  await writePrivate(keyFile, Buffer.from(generated.private))
  await writePrivate(certFile, Buffer.from(generated.cert))
  return { cert: generated.cert, key: generated.private }
}
