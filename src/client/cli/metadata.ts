import { type Input, repeated } from './command.ts'
import { UsageError } from './terminal/failure.ts'

export const meta = repeated('KEY=VALUE', 'a value to keep with it, by its key')
export const withMeta = repeated('KEY=VALUE', 'only with this value in the metadata')

/** The values of `--meta`, by their keys, as a field of a request; nothing if there are none. */
export const metadataOf = (input: Input): { metadata?: Record<string, string> } => {
  const given = input.texts('meta')
  if (given.length === 0) return {}
  const entries = given.map((one) => {
    const end = one.indexOf('=')
    if (end < 1) throw new UsageError(`--meta must be KEY=VALUE, not ${one}`)
    return [one.slice(0, end), one.slice(end + 1)]
  })
  return { metadata: Object.fromEntries(entries) }
}
