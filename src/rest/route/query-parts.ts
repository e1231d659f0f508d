export type QueryValues = Readonly<Record<string, unknown>>

/** `metadata.order`, or `metadata[order]` as OpenAPI's `deepObject` writes it; but not a name that no rule would see. */
const PART = /^([A-Za-z]+)(?!.__proto__]?$)(?:\.(.+)|\[(.+)\])$/s

/** Returns a query in which the parameters that are parts of these fields are one object for each. */
export const withParts = (query: QueryValues, fields: readonly string[]): QueryValues => {
  const objects: Record<string, Record<string, unknown>> = {}
  const others: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(query)) {
    const [, field, key, inBrackets] = PART.exec(name) ?? []
    if (field === undefined || !fields.includes(field)) others[name] = value
    else objects[field] = { ...objects[field], [key ?? inBrackets!]: value }
  }
  // A field that is also given as a text is wrong: that is checked, not its parts.
  return { ...objects, ...others }
}
