import { type DocumentNode, Kind, type SelectionNode, type SelectionSetNode } from 'graphql'

/** What a selection asks for, with its fragments expanded. */
export interface Size {
  /** Number of fields at the top, each of which is an operation of its own in a mutation. */
  roots: number
  /** Number of fields, including those of introspection. */
  fields: number
  /** Estimated number of fields of the schema's description in the answer. */
  described: number
}

/** Where a selection is: in the data, in the list of all types, or elsewhere in the description of the schema. */
type Within = 'data' | 'types' | 'description'

/** Lengths of introspection's lists in this schema; for `ofType`, how many types have one. */
const LENGTHS = new Map([
  ['types', 300],
  ['directives', 10],
  ['args', 1],
  ['ofType', 0.6],
  // Of one type, which may be the largest.
  ['fields', 60],
  ['inputFields', 15],
  ['enumValues', 20],
  ['interfaces', 2],
  ['possibleTypes', 10],
])
/** Mean lengths over all types. */
const MEANS = new Map([
  ['fields', 3],
  ['inputFields', 1],
  ['enumValues', 1],
  ['interfaces', 0.1],
  ['possibleTypes', 0.1],
])

const NONE: Size = { roots: 0, fields: 0, described: 0 }

const sum = (sizes: readonly Size[]): Size => ({
  roots: sizes.reduce((total, { roots }) => total + roots, 0),
  fields: sizes.reduce((total, { fields }) => total + fields, 0),
  described: sizes.reduce((total, { described }) => total + described, 0),
})

const belowOf = (name: string, within: Within): Within => {
  if (within !== 'data') return name === 'types' ? 'types' : 'description'
  return name === '__schema' || name === '__type' ? 'description' : 'data'
}

/** Measures the definitions of one document. Each fragment is measured once in each place, however often it is spread. */
class Measure {
  readonly #fragments: ReadonlyMap<string, SelectionSetNode>
  readonly #known = new Map<string, Size>()

  constructor({ definitions }: DocumentNode) {
    this.#fragments = new Map(
      definitions.flatMap((one) =>
        one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one.selectionSet]] : [],
      ),
    )
  }

  of({ selections }: SelectionSetNode, within: Within = 'data'): Size {
    return sum(selections.map((selection) => this.#partOf(selection, within)))
  }

  #partOf(selection: SelectionNode, within: Within): Size {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#fragment(selection.name.value, within)
    if (selection.kind === Kind.INLINE_FRAGMENT) return this.of(selection.selectionSet, within)
    const name = selection.name.value
    const below = selection.selectionSet ? this.of(selection.selectionSet, belowOf(name, within)) : NONE
    const length = (within === 'types' ? MEANS.get(name) : undefined) ?? LENGTHS.get(name) ?? 1
    return {
      roots: 1,
      fields: 1 + below.fields,
      described: within === 'data' ? below.described : length * (1 + below.described),
    }
  }

  #fragment(name: string, within: Within): Size {
    const key = `${within} ${name}`
    const known = this.#known.get(key)
    if (known) return known
    this.#known.set(key, NONE) // a fragment that spreads itself is reported by the validation
    const selection = this.#fragments.get(name)
    const size = selection ? this.of(selection, within) : NONE
    this.#known.set(key, size)
    return size
  }
}

/** Returns the size of each operation and each fragment of a document. */
export const sizesOf = (document: DocumentNode): { operations: Size[]; fragments: Size[] } => {
  const measure = new Measure(document)
  const sizes = { operations: [] as Size[], fragments: [] as Size[] }
  for (const one of document.definitions) {
    if (one.kind === Kind.OPERATION_DEFINITION) sizes.operations.push(measure.of(one.selectionSet))
    if (one.kind === Kind.FRAGMENT_DEFINITION) sizes.fragments.push(measure.of(one.selectionSet))
  }
  return sizes
}

/** Returns the size of all of these together. */
export const totalOf = sum
