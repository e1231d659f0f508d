/** Returns the bytes in shared memory, copied only if they are not there already. */
export const toSharedMemory = (raw: Uint8Array): Uint8Array => {
  if (raw.buffer instanceof SharedArrayBuffer) return raw
  const shared = new Uint8Array(new SharedArrayBuffer(raw.length))
  shared.set(raw)
  return shared
}
