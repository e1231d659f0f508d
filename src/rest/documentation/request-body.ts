interface Body {
  content: Record<string, { schema?: object }>
}

/**
 * Moves the JSON body of an operation to the document's schemas and names it after the operation, such as
 * `SendMessageInput`, which is what GraphQL calls it. Generators of clients would number bodies without a name.
 */
export const nameRequestBody = (
  { operationId, requestBody }: { operationId?: string; requestBody?: unknown },
  schemas: Record<string, object>,
): void => {
  const json = (requestBody as Body | undefined)?.content['application/json']
  if (!json?.schema || !operationId || '$ref' in json.schema) return
  const name = `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Input`
  schemas[name] = json.schema
  json.schema = { $ref: `#/components/schemas/${name}` }
}
