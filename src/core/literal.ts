/** In a literal, this name would set the prototype. */
const keyOf = (name: string): string => (name === '__proto__' ? '["__proto__"]' : JSON.stringify(name))

/**
 * Compiles a function that makes objects with these names, in this order. V8 makes an object that is written as a literal in one piece,
 * and all of them have one shape; copying one without a fixed shape and adding names to it take several times as long.
 * `values` are expressions of `from` and of `using`; neither they nor the names may come from a request.
 */
export const compileLiteral = <From>(
  values: readonly (readonly [name: string, expression: string])[],
  using: readonly unknown[],
): ((from: From) => Record<string, unknown>) => {
  const members = values.map(([name, expression]) => `${keyOf(name)}: ${expression}`)
  return new Function('using', `return (from) => ({ ${members.join(', ')} })`)(using)
}
