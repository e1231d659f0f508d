/**
 * Deeper than anything that Telegram nests (16 levels of blocks and of formatting), and safe for the stack.
 */
const MAX_DEPTH = 64

/** Returns the words of a rich text: a string, a list of rich texts, or formatting around one. */
const inline = (value: unknown, depth: number): string => {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return ''
  if (Array.isArray(value)) return value.map((each) => inline(each, depth + 1)).join('')
  const { text, alternative_text, expression } = value as Record<string, unknown>
  return inline(text ?? alternative_text ?? expression, depth + 1)
}

const blocks = (value: unknown, depth: number): string[] => {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return []
  if (Array.isArray(value)) return value.flatMap((each) => blocks(each, depth + 1))
  const block = value as Record<string, unknown>
  if (Array.isArray(block.cells))
    return block.cells.map((row) =>
      [row]
        .flat()
        .map((cell) => inline(cell, depth))
        .join('\t'),
    )
  const own = inline(block.summary ?? block.text ?? block.expression, depth)
  const inner = [block.blocks, block.items].flatMap((each) => blocks(each, depth + 1))
  const label = typeof block.label === 'string' ? `${block.label} ` : ''
  const lines = [own, ...inner, inline(block.caption, depth)].filter((line) => line !== '')
  return lines.map((line, index) => (index === 0 ? label + line : line))
}

/** Returns the words of a rich message, one line for each of its blocks; '' when there are none. */
export const richText = (message: unknown): string => blocks(message, 0).join('\n')
