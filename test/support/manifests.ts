import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
import type { Container, EnvVar } from 'kubernetes-types/core/v1.d.ts'
import { parseAllDocuments } from 'yaml'

/** The manifests of docs/deployment/kubernetes, as a cluster reads them. */

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'docs', 'deployment', 'kubernetes')

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string> }
}

export const documentsOf = (file: string): Manifest[] =>
  parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => document.toJS())

export const manifestFiles = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.yaml'))

export const manifests: readonly Manifest[] = manifestFiles()
  .filter((file) => file !== 'kustomization.yaml')
  .flatMap(documentsOf)

export const named = <Kind extends object>(kind: string, name: string): Manifest & Kind => {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name)
  if (!found) throw new Error(`there is no ${kind} ${name}`)
  return found as Manifest & Kind
}

/** Tests whether a selector chooses what has these labels. */
export const selects = (selector: Record<string, string>, labels: Record<string, string>): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)

export type Pods = NonNullable<Deployment['spec']>

/** The variables that the image sets. */
const ofImage = (): Record<string, string> => {
  const [, line] = /^ENV (.*)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))!
  return Object.fromEntries(line!.split(' ').map((pair) => pair.split('=') as [string, string]))
}

const plain = ({ name, value }: EnvVar): [string, string] => {
  if (value === undefined) throw new Error(`${name} has no value`)
  return [name, value]
}

/**
 * The variables of a container: those of the image, of the ConfigMaps and Secrets (where `filled` has the values of
 * those that the operator fills in), and its own.
 */
export const environmentOf = (
  { envFrom = [], env = [] }: Container,
  filled: Record<string, string>,
): Record<string, string> => {
  const read: Record<string, string> = ofImage()
  for (const { configMapRef, secretRef } of envFrom) {
    const { data, stringData } = named<{
      data?: Record<string, string>
      stringData?: Record<string, string>
    }>(configMapRef ? 'ConfigMap' : 'Secret', (configMapRef ?? secretRef)!.name!)
    Object.assign(read, data, stringData)
  }
  return { ...read, ...filled, ...Object.fromEntries(env.map(plain)) }
}
