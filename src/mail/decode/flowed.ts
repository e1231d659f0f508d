/**
 * Joins the lines of `format=flowed` text (RFC 3676): a line that ends with a space continues on the next
 * line of the same quote depth, except the signature separator `-- `. With `delSp` that space is removed.
 */
export function unflow(text: string, delSp: boolean): string {
  const out: { depth: number; pieces: string[] }[] = []
  let flowing = false
  for (const line of text.split(/\r?\n/)) {
    const depth = /^>*/.exec(line)![0].length
    const content = line.slice(depth).replace(/^ /, '')
    const signature = content === '-- '
    const soft = content.endsWith(' ') && !signature
    const piece = soft && delSp ? content.slice(0, -1) : content
    const last = out.at(-1)
    if (flowing && last?.depth === depth && !signature) last.pieces.push(piece)
    else out.push({ depth, pieces: [piece] })
    flowing = soft
  }
  return out
    .map(({ depth, pieces }) => `${'>'.repeat(depth)}${depth > 0 ? ' ' : ''}${pieces.join('')}`)
    .join('\n')
}
