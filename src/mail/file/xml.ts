import { Parser } from 'htmlparser2'
import type { Archive } from './archive.ts'
import { broken, tooLarge } from './problem.ts'

export type Attributes = Readonly<Record<string, string>>

/** What happens at an element. Names are without prefixes, which writers choose. */
export interface XmlHandler {
  open?(name: string, attributes: Attributes): void
  close?(name: string): void
  text?(text: string): void
}

/** Documents of people have fewer than 100 levels. */
const MAX_DEPTH = 1_000

const localOf = (name: string): string => name.slice(name.indexOf(':') + 1)

/** The value of an attribute, whatever its prefix. */
export const attributeOf = (attributes: Attributes, name: string): string | undefined => {
  if (name in attributes) return attributes[name]
  for (const key in attributes) if (key.endsWith(name) && localOf(key) === name) return attributes[key]
  return undefined
}

/** Reads a part of an archive in one pass. Entities that a document declares are never expanded: it is refused. */
export const readXml = async (archive: Archive, name: string, handler: XmlHandler): Promise<void> => {
  let depth = 0
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        if (++depth > MAX_DEPTH) throw tooLarge(`its XML is nested deeper than ${MAX_DEPTH} levels`)
        handler.open?.(localOf(tag), attributes)
      },
      onclosetag(tag) {
        depth--
        handler.close?.(localOf(tag))
      },
      ontext: (text) => handler.text?.(text),
      onprocessinginstruction(tag) {
        if (tag.toLowerCase() === '!doctype') throw broken('its XML has a document type declaration')
      },
    },
    { xmlMode: true },
  )
  await archive.read(name, (text) => parser.write(text))
  parser.end()
}

/** The parts that a part of an Office document refers to, by their ids. */
export interface Relation {
  /** The last word of its type: `slide`, `hyperlink` … */
  type: string
  /** A name in the archive, or a URL if it is external. */
  target: string
}

const resolve = (folder: string, target: string): string => {
  const names: string[] = []
  for (const name of (target.startsWith('/') ? target : `${folder}/${target}`).split('/'))
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  return names.join('/')
}

/** Reads what the part `of` refers to; of the document itself if it is ''. */
export const readRelations = async (archive: Archive, of: string): Promise<Map<string, Relation>> => {
  const at = of.lastIndexOf('/')
  const folder = of.slice(0, Math.max(at, 0))
  const relations = new Map<string, Relation>()
  await readXml(archive, `${folder && `${folder}/`}_rels/${of.slice(at + 1)}.rels`, {
    open(name, { Id, Type = '', Target = '', TargetMode }) {
      if (name !== 'Relationship' || Id === undefined) return
      const target = TargetMode === 'External' ? Target : resolve(folder, Target)
      relations.set(Id, { type: Type.slice(Type.lastIndexOf('/') + 1), target })
    },
  })
  return relations
}
