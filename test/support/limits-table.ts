import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'oxc-parser'

/**
 * docs/limits.md: what the docstrings of constants with the tag `@limit Area` say. The value and its reason are
 * written once, beside the code that applies them.
 */

const root = join(import.meta.dirname, '..', '..')

interface Limit {
  area: string
  words: string
  value: string
}

/** What is read of a node of the syntax tree. */
// biome-ignore lint/suspicious/noExplicitAny: the tree has a type for each of 200 kinds of nodes
type Node = any

/** A source with its constants, and what each of its comments says. */
interface Source {
  text: string
  /** The text of the source and of what it imports, where the types of its constants may stand. */
  imported(): string
  constants: Map<string, Node>
  /** The docstring that ends before a position. */
  docBefore(start: number): string
}

const readSource = (file: string): Source => {
  const text = readFileSync(file, 'utf8')
  const { program, comments } = parseSync(file, text)
  const declarations = program.body.flatMap((statement: Node) => {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    return declaration?.type === 'VariableDeclaration' ? declaration.declarations : []
  })
  const imports = [...text.matchAll(/^import type .* from '(\..*)'$/gm)].map(([, path]) =>
    join(dirname(file), path!),
  )
  return {
    text,
    imported: () => [...imports.map((path) => readFileSync(path, 'utf8')), text].join('\n'),
    constants: new Map(declarations.map((each: Node) => [each.id.name, each.init])),
    docBefore: (start) => {
      const comment = comments.findLast(({ end }) => end <= start)
      const between = comment && text.slice(comment.end, start)
      if (!comment?.value.startsWith('*') || !/^\s*(export )?(const )?$/.test(between!)) return ''
      return comment.value.replaceAll(/\s*\n\s*\* ?|^\*/g, ' ').trim()
    },
  }
}

/** The number that a constant expression stands for. */
const numberOf = (node: Node, source: Source): number => {
  if (node?.type === 'Literal' && typeof node.value === 'number') return node.value
  if (node?.type === 'Identifier') return numberOf(source.constants.get(node.name), source)
  if (node?.type !== 'BinaryExpression')
    throw new Error(`not a number: ${source.text.slice(node.start, node.end)}`)
  const [left, right] = [numberOf(node.left, source), numberOf(node.right, source)]
  if (node.operator === '*') return left * right
  if (node.operator === '+') return left + right
  throw new Error(`not multiplied or added: ${source.text.slice(node.start, node.end)}`)
}

const UNITS = {
  Ms: [
    [86_400_000, 'days'],
    [3_600_000, 'hours'],
    [60_000, 'minutes'],
    [1_000, 's'],
    [1, 'ms'],
  ],
  Bytes: [
    [1024 ** 3, 'GiB'],
    [1024 ** 2, 'MiB'],
    [1024, 'KiB'],
    [1, 'bytes'],
  ],
} as const

const inUnit = (value: number, units: readonly (readonly [number, string])[]): string => {
  const [size, unit] = units.find(([each]) => value >= each && value % each === 0) ?? units.at(-1)!
  return `${(value / size).toLocaleString('en')} ${value === size ? unit.replace(/s$/, '') || unit : unit}`
}

/** A value as a person reads it, by what its name ends in: `_MS`, `_BYTES`, `waitMs`, `minBytesPerSecond`. */
const written = (name: string, value: number): string => {
  const perSecond = /PerSecond$|_PER_SECOND$/.test(name)
  const of = name.replace(/PerSecond$|_PER_SECOND$|PerSource$|PerAsker$/, '')
  if (/(Ms|_MS)$/.test(of)) return inUnit(value, UNITS.Ms)
  if (/(Bytes|BYTES|^size|^unread)$/.test(of)) return `${inUnit(value, UNITS.Bytes)}${perSecond ? '/s' : ''}`
  const days = /_(DAYS|HOURS|SECONDS)$/.exec(of)
  return days ? `${value} ${days[1]!.toLowerCase()}` : value.toLocaleString('en')
}

const TAG = /\s*@limit ([^.]+?)\s*$/

/** `minBytesPerSecond` as words, for members without a docstring of their own. */
const wordsOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** The docstrings of the members of interfaces; one without is described by that of the member before it. */
const memberDocs = (text: string): Map<string, string> => {
  const docs = new Map<string, string>()
  let last = ''
  for (const [, doc, name] of text.matchAll(
    /^ {2}(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2})?(?:readonly )?(\w+)\??: (?:number|\w*Limits|\{)/gm,
  )) {
    last = doc?.replaceAll(/\s*\n\s*\* ?/g, ' ').trim() ?? last
    if (!docs.has(name!)) docs.set(name!, last)
  }
  return docs
}

/** Members that one docstring describes are one limit. */
const limitsOfObject = (area: string, node: Node, source: Source): Limit[] => {
  const docs = memberDocs(source.imported())
  const limits = new Map<string, Limit>()
  for (const { key, value, start } of node.properties) {
    if (value.type === 'Literal' && typeof value.value !== 'number') continue
    const words = source.docBefore(start) || docs.get(key.name) || wordsOf(key.name)
    const numbers: Node[] = value.type === 'ObjectExpression' ? value.properties : [{ key, value }]
    const texts = numbers.map(
      (one) => `\`${one.key.name}\` ${written(one.key.name, numberOf(one.value, source))}`,
    )
    const before = limits.get(words)?.value
    limits.set(words, { area, words, value: [...(before ? [before] : []), ...texts].join('<br>') })
  }
  return [...limits.values()]
}

const objectOf = (node: Node): Node =>
  node.type === 'ObjectExpression' ? node : node.expression ? objectOf(node.expression) : null

const limitsOf = (file: string): Limit[] => {
  const source = readSource(file)
  return [...source.constants].flatMap(([name, node]) => {
    const start = source.text.lastIndexOf('\n', source.text.lastIndexOf(name, node?.start ?? 0)) + 1
    const doc = source.docBefore(start)
    const area = TAG.exec(doc)?.[1]
    if (!area) return []
    const object = objectOf(node)
    if (object) return limitsOfObject(area, object, source)
    return [{ area, words: doc.replace(TAG, ''), value: written(name, numberOf(node, source)) }]
  })
}

const HEAD = `# Limits

Every limit that clients, senders and operators can meet, with its reason. Printed by \`npm run limits\` from the code
that applies it. Those of plans and \`RATE_LIMIT\` can be configured (see [configuration](configuration.md)); the
lengths of names and texts are in the [API's description](../schema.graphql).
`

/** Prints docs/limits.md. */
export const printedLimits = (): string => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('generated'))
    .sort()
  const limits = sources.flatMap((file) => limitsOf(join(root, 'src', file)))
  const areas = [...new Set(limits.map(({ area }) => area))].sort()
  const tables = areas.map((area) => {
    const rows = limits
      .filter((limit) => limit.area === area)
      .map(({ words, value }) => `| ${value} | ${words} |`)
    return `\n## ${area}\n\n| Limit | Of what, and why |\n| --- | --- |\n${rows.join('\n')}\n`
  })
  return `${HEAD}${tables.join('')}`.replaceAll(/\bdocs\/(decisions\.md#[\w-]+)/g, '[decisions]($1)')
}
