const BYTEA_OID = 17
const HEADER = 20
/** An empty array: no dimensions, no nulls, the type. */
const NONE = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, BYTEA_OID])

/**
 * Encodes values as the binary form of a `bytea[]` parameter. The driver would encode such an array as one
 * hexadecimal text: for a mail of 25 MiB with its files, a string of 90 MB, and as much again to send it.
 */
export const byteaArray = (values: readonly (Uint8Array | null)[]): Buffer => {
  if (values.length === 0) return NONE
  const length = values.reduce((sum, value) => sum + 4 + (value?.byteLength ?? 0), HEADER)
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  // Number of dimensions, whether there are nulls, the type, the length, the lower bound.
  const hasNulls = values.includes(null) ? 1 : 0
  for (const number of [1, hasNulls, BYTEA_OID, values.length, 1]) at = bytes.writeInt32BE(number, at)
  for (const value of values) {
    at = bytes.writeInt32BE(value?.byteLength ?? -1, at)
    if (!value) continue
    bytes.set(value, at)
    at += value.byteLength
  }
  return bytes
}
