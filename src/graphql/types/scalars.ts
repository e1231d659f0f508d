import { UNNAMED } from '../../core/http/json.ts'
import { TIMESTAMP_RULE, timestamp, uuid } from '../../core/rules.ts'
import { builder } from '../builder/builder.ts'
import { ScalarError } from '../builder/input.ts'

const EMAIL = /^[\w'+-]+(\.[\w'+-]+)*(?<!['-])@([a-z\d][a-z\d-]*\.)+[a-z]{2,}$/i

builder.scalarType('UUID', {
  description:
    'An identifier: a UUID of version 1 to 8 and variant 8, 9, a or b, the nil UUID, or the max UUID (all f). Upper case is accepted; lower case is returned.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc9562',
  serialize: (value) => value,
  parseValue(value) {
    const { data } = uuid.safeParse(value)
    if (data === undefined) throw new ScalarError('must be a UUID')
    return data
  },
})

builder.scalarType('DateTime', {
  description:
    'An ISO 8601 timestamp. Returned in UTC with milliseconds; accepted with any offset, which is required.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (value) => value.toISOString(),
  parseValue(value) {
    const { data } = timestamp.safeParse(value)
    if (data === undefined) throw new ScalarError(TIMESTAMP_RULE)
    return data
  },
})

builder.scalarType('EmailAddress', {
  description:
    'An email address: dot-separated groups of letters, digits and _ \' + - (the last one not ending in \' or -), then "@", then a domain name whose last label is two or more letters.',
  serialize: (value) => value,
  parseValue(value) {
    if (typeof value !== 'string' || value.length > 320 || !EMAIL.test(value))
      throw new ScalarError('must be an email address')
    return value
  },
})

builder.scalarType('SafeInt', {
  description: 'An integer from 0 to 2^53 - 1, which every JSON implementation represents exactly.',
  serialize: (value) => value,
  parseValue(value) {
    if (!Number.isSafeInteger(value) || (value as number) < 0)
      throw new ScalarError('must be a whole number from 0 to 9007199254740991')
    return value as number
  },
})

builder.scalarType('JSONObject', {
  description: 'A JSON object whose fields depend on what it describes.',
  serialize: (value) => value,
  parseValue(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new ScalarError('must be a JSON object')
    if (Object.hasOwn(value, UNNAMED)) throw new ScalarError(`must not have a value named ${UNNAMED}`)
    return value as Record<string, unknown>
  },
})
