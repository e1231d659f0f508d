/**
 * An esbuild plugin that takes a name from the file that has it, where the source takes it from a folder's index.ts.
 * Otherwise each command would load all files of every folder of which it uses one.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'

const FROM_INDEX = /^(import|export)( type)? \{([^}]*)\} from '(\.[^']*\/index\.ts)'/gm
const EXPORTS = /^export (?:type )?\{([^}]*)\} from '([^']+)'/gm

const namesIn = (list) =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

const nameOf = (one) => one.replace(/^type /, '').split(' as ')[0]

const parseIndex = (index) =>
  new Map(
    [...readFileSync(index, 'utf8').matchAll(EXPORTS)].flatMap(([, list, file]) =>
      namesIn(list).map((one) => [nameOf(one), path.join(path.dirname(index), file)]),
    ),
  )

const indexes = new Map()

/** Returns the file of each name that an index.ts exports. Each is read once in a build. */
const readIndex = (index) => {
  const known = indexes.get(index) ?? parseIndex(index)
  indexes.set(index, known)
  return known
}

const rewrite = (text, folder) =>
  text.replaceAll(FROM_INDEX, (statement, word, type = '', list, name) => {
    const files = readIndex(path.join(folder, name))
    if (!namesIn(list).every((one) => files.has(nameOf(one)))) return statement // it has something of its own
    const direct = namesIn(list).map(
      (one) => `${word}${type} { ${one} } from ${JSON.stringify(files.get(nameOf(one)))}`,
    )
    const lines = statement.split('\n').length - 1
    return direct.join('; ') + '\n'.repeat(lines) // the numbers of the lines below stay
  })

export const pastIndexes = {
  name: 'past-indexes',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, ({ path: file }) => ({
      contents: rewrite(readFileSync(file, 'utf8'), path.dirname(file)),
      loader: 'ts',
    })),
}
