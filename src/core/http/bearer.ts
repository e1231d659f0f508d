/** Returns the token in the value of an `Authorization` header, or null if it has none. */
export const bearerOf = (authorization: string | null | undefined): string | null =>
  /^bearer +(\S(?:.{0,298}\S)?) *$/i.exec(authorization ?? '')?.[1] ?? null
