import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ProtocolError } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { ROOT } from '../core/root.ts'

/** The Skills extension (SEP-2640): how to work with the tools, for hosts that load it when it is needed. */

export const SKILLS = 'io.modelcontextprotocol/skills'

/** Each skill is a folder with this file alone. */
const FILE = 'SKILL.md'
const FOLDER = join(ROOT, 'docs', 'plugin', 'skills')

interface Skill {
  uri: string
  frontmatter: Record<string, string>
  text: string
  resources: { uri: string; digest: string; size: number }[]
}

const skillOf = (name: string): Skill => {
  const bytes = readFileSync(join(FOLDER, name, FILE))
  const [uri, text] = [`skill://${name}/${FILE}`, bytes.toString()]
  const [, head = ''] = text.split('---\n')
  const fields = [...head.matchAll(/^(\w+): (.+)$/gm)].map(([, field, value]) => [field!, value!] as const)
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  return {
    uri,
    frontmatter: Object.fromEntries(fields),
    text,
    resources: [{ uri, digest, size: bytes.byteLength }],
  }
}

let known: Skill[] | undefined
/** None where only what runs was installed. They are read once. */
const skills = (): Skill[] => {
  known ??= existsSync(FOLDER) ? readdirSync(FOLDER).map(skillOf) : []
  return known
}

const entryOf = ({ text: _, ...entry }: Skill) => entry

export const listSkills = () => ({ skills: skills().map(entryOf) })

export const skillParams = z.looseObject({ uri: z.string().max(200) })

export const getSkill = (uri: string) => {
  const skill = skills().find((one) => one.uri === uri)
  if (!skill) throw new ProtocolError(-32602, 'There is no such skill.')
  return { skill: entryOf(skill) }
}

/** The file of a skill, as a resource; null for another URI. */
export const readSkill = (uri: string) => {
  const skill = skills().find((one) => one.uri === uri)
  return skill ? { contents: [{ uri, mimeType: 'text/markdown', text: skill.text }] } : null
}
