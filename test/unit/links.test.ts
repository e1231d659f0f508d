import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readSources } from '../support/sources.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')

const withoutCode = (text: string) => text.replace(/^ *```[\s\S]*?^ *```/gm, '')
const anchorsOf = (text: string) =>
  [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

const documents = [
  ...['.', 'docs'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
  'src/client/README.md',
  'src/dashboard/DESIGN.md',
]

/** Returns the links of a document that lead nowhere. */
const brokenLinks = (document: string): string[] =>
  [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#')
      const file = path === '' ? document : join(dirname(document), path)
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && !anchorsOf(read(file)).includes(anchor)
    })
    .map((link) => `${document}: ${link}`)

test('every link of the documents leads to a file and a heading', () => {
  expect(documents.flatMap(brokenLinks)).toEqual([])
})

test('comments name the headings of docs/decisions.md that exist, and each of these is named', () => {
  const headings = [...read('docs/decisions.md').matchAll(/^### (.+)$/gm)].map(([, text = '']) =>
    anchorOf(text),
  )
  const named = [...readSources().values()].flatMap((source) =>
    [...source.matchAll(/docs\/decisions\.md#([\w-]+)/g)].map(([, label = '']) => label),
  )
  expect([...new Set(named)].sort()).toEqual(headings.sort())
})
