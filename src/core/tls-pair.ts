import { createPrivateKey, X509Certificate } from 'node:crypto'
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
