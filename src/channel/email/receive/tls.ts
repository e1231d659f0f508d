import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { writePrivate } from '../../../core/private-file.ts'

/** PEM texts. */
export interface TlsPair {
  readonly cert: string
  readonly key: string
}

const DAY_MS = 86_400_000

/**
 * The self-signed certificate that STARTTLS shows when the operator gives none: made once for `name`, valid
 * for ten years, kept in `dataDir` as smtp.crt and smtp.key (0600). Sending servers encrypt opportunistically
 * and take it; smtp-server's own pair is public and would hide nothing.
 */
export async function ownCertificate(dataDir: string, name: string, now: Date): Promise<TlsPair> {
  const [certFile, keyFile] = [join(dataDir, 'smtp.crt'), join(dataDir, 'smtp.key')]
  try {
    return { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now.getTime() - DAY_MS),
    notAfterDate: new Date(now.getTime() + 3650 * DAY_MS),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  await mkdir(dataDir, { recursive: true })
  // The certificate last: a start that finds it finds its key too.
  await writePrivate(keyFile, Buffer.from(made.private))
  await writePrivate(certFile, Buffer.from(made.cert))
  return { cert: made.cert, key: made.private }
}
