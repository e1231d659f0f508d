import { createPublicKey, type KeyObject } from 'node:crypto'
import tools from 'mailauth/lib/tools.js'
import { setNewest } from '../../core/newest.ts'
import type { DnsResolver } from './resolver.ts'

interface Options {
  hashAlgo?: string
}
type Key = Omit<Awaited<ReturnType<typeof tools.getPublicKey>>, 'publicKey'> & { publicKey: KeyObject }

/** Where mailauth looks for the keys of a message: for its signatures, and for ARC, which has the same resolver. */
export interface KeyCache {
  readonly resolver: DnsResolver
  /** mailauth asks ahead for keys, and only later for what came of it. */
  get(type: string, name: string, minBitLength: number | undefined, options: Options): Promise<Key>
}

const MAX_KEYS = 500
const keys = new Map<string, Key>()

/**
 * Keeps the parsed keys of recent messages, by their records in DNS, which are looked up for each message
 * (docs/decisions.md#verifying-mail).
 */
export const keyCacheOf = (resolver: DnsResolver): KeyCache => {
  const asked = new Map<string, Promise<Key>>()
  return {
    resolver,
    get(type, name, minBitLength, { hashAlgo }) {
      const id = `${hashAlgo} ${minBitLength} ${name}`
      let key = asked.get(id)
      if (key === undefined) {
        key = keyOf(type, name, minBitLength, hashAlgo, resolver)
        key.catch(() => undefined)
        asked.set(id, key)
      }
      return key
    },
  }
}

async function keyOf(
  type: string,
  name: string,
  minBitLength: number | undefined,
  hashAlgo: string | undefined,
  resolver: DnsResolver,
): Promise<Key> {
  const records = await resolver(name, 'TXT')
  const id = JSON.stringify([hashAlgo, minBitLength, records[0]])
  const known = keys.get(id)
  if (known !== undefined) return known
  const key = await tools.getPublicKey(type, name, minBitLength, async () => records, { hashAlgo })
  const parsed = { ...key, publicKey: createPublicKey(key.publicKey) }
  setNewest(keys, id, parsed, MAX_KEYS)
  return parsed
}
