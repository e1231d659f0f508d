import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type DefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  parse,
  print,
  visit,
} from 'graphql'
import { ROOT } from '../../core/root.ts'
import { parseWithinLimits } from '../context/limits.ts'

/** The operations of the web application of this build. */
const FILE = join(ROOT, 'dist', 'dashboard', 'operations.json')

/** Without `__typename`, which the application's GraphQL client adds, and with the definitions in one order. */
const normalize = (definitions: readonly DefinitionNode[]): string =>
  definitions
    .map((one) =>
      print(visit(one, { Field: ({ name }) => (name.value === '__typename' ? null : undefined) })),
    )
    .sort()
    .join('\n')

const fragmentsOf = (
  node: DefinitionNode,
  all: ReadonlyMap<string, FragmentDefinitionNode>,
  found = new Set<FragmentDefinitionNode>(),
): ReadonlySet<FragmentDefinitionNode> => {
  visit(node, {
    FragmentSpread: ({ name }) => {
      const fragment = all.get(name.value)
      if (!fragment || found.has(fragment)) return
      found.add(fragment)
      fragmentsOf(fragment, all, found)
    },
  })
  return found
}

const read = (): ReadonlySet<string> => {
  const texts = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as string[]) : []
  if (texts.length === 0) return new Set()
  const { definitions }: DocumentNode = parse(texts.join('\n'), { noLocation: true })
  const fragments = new Map(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  )
  const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  return new Set(operations.map((one) => normalize([one, ...fragmentsOf(one, fragments)])))
}

let known: ReadonlySet<string> | null = null

/** Whether the web application of this build sends this document. */
export const isOfApplication = (query: string): boolean => {
  known ??= read()
  try {
    return known.has(normalize(parseWithinLimits(query).definitions))
  } catch {
    return false // it does not parse
  }
}
