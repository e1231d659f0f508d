import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal'
import { buildSchema, introspectionFromSchema } from 'graphql'

const root = join(import.meta.dirname, '..', '..')

/** src/dashboard/live/schema.d.ts as schema.graphql has it now: types for the web application's documents. */
export const dashboardTypes = (): string => {
  const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'))
  return outputIntrospectionFile(minifyIntrospection(introspectionFromSchema(schema)), {
    fileType: '.d.ts',
    shouldPreprocess: true,
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(dashboardTypes())
