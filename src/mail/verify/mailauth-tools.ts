import tools from 'mailauth/lib/tools.js'

const readKey = tools.getPublicKey

const MAX_KEYS = 500
const keys = new Map<string, unknown>()

/**
 * Keeps the parsed keys of recent signatures, by their records in DNS, which are looked up each time
 * (docs/decisions.md#verifying-mail). mailauth's other files take the function from its tools when they are loaded.
 */
tools.getPublicKey = async (type, name, minBitLength, resolver) => {
  const records = await resolver(name, 'TXT')
  const id = JSON.stringify([type, minBitLength, records[0]])
  const known = keys.get(id)
  if (known !== undefined) return known
  const key = await readKey(type, name, minBitLength, async () => records)
  if (keys.size === MAX_KEYS) keys.delete(keys.keys().next().value!)
  keys.set(id, key)
  return key
}

/**
 * Returns a field in relaxed form (RFC 6376 3.4.2). mailauth takes every space of Latin-1 for white space, among them
 * the byte 0xA0, which is half of a letter in UTF-8: genuine signatures would fail, and changed ones pass.
 */
tools.formatRelaxedLine = (field, end = '') => {
  const text = field.toString('latin1').replaceAll('\r\n', '')
  const colon = text.indexOf(':')
  const name = text
    .slice(0, colon)
    .replace(/(?<![ \t])[ \t]+$/, '')
    .toLowerCase()
  const value = text
    .slice(colon + 1)
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '')
  return Buffer.from(`${name}:${value}${end}`, 'latin1')
}
