import { PARTS } from './part.ts'

/** Spreads the bits of a 32-bit number over all of it (the last step of MurmurHash3). */
const mixed = (value: number): number => {
  let bits = value
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** FNV-1a, 32 bits. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/**
 * Returns which of the workers owns each part: the one with the highest weight, which depends on it and the part alone
 * (rendezvous hashing). So workers that know of the same ones agree without talking, and when one comes or goes, only
 * the parts move that it gets or had. Null for each part when there are no workers.
 */
export const ownersOf = (workers: readonly string[]): (string | null)[] => {
  const seeds = workers.toSorted().map((id) => ({ id, seed: mixed(hashOf(id)) }))
  return Array.from({ length: PARTS }, (_, part) => {
    let owner: string | null = null
    let highest = -1
    for (const { id, seed } of seeds) {
      const weight = mixed(seed ^ mixed(part + 1))
      if (weight > highest) [owner, highest] = [id, weight]
    }
    return owner
  })
}
