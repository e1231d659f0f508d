/**
 * Maximum number of statements prepared on each connection. Clients choose the selected fields and filters;
 * statements past this limit are planned each time.
 */
const MAX_PREPARED = 100
const prepared = new Map<string, string>()

/** Returns the name under which a statement is prepared; nothing when it is not. */
export const nameOf = (text: string): { name?: string } => {
  const known = prepared.get(text)
  if (known !== undefined) return { name: known }
  if (prepared.size >= MAX_PREPARED) return {}
  const name = `messages ${prepared.size}`
  prepared.set(text, name)
  return { name }
}
