import { createPrivateKey, X509Certificate } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'

/** A certificate, with the chain below it, and its private key in PEM. */
export interface TlsPair {
  readonly cert: string
  readonly key: string
}

/** A pair that was read from files, and where they are. */
export interface TlsFiles extends TlsPair {
  readonly certFile: string
  readonly keyFile: string
}

/** Returns the certificate of a pair. Throws unless both are whole and belong together. */
export const certificateOf = ({ cert, key }: TlsPair): X509Certificate => {
  // Of both, only the first notices an empty file, and only the second the rest of the chain.
  const certificate = new X509Certificate(cert)
  if (!certificate.checkPrivateKey(createPrivateKey(key)))
    throw new Error('the key is not that of the certificate')
  createSecureContext({ cert, key })
  return certificate
}

/** More than any chain takes. */
const MOST_BYTES = 1024 * 1024

/** Reads a file of a pair. What is none is refused, because a pipe would be waited for, and a device has no end. */
export const readPem = async (path: string): Promise<string> => {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw new Error(`${path} is not a file`)
    if (found.size > MOST_BYTES) throw new Error(`${path} is too long to be a certificate or a key`)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}
