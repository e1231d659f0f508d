import { pathToFileURL } from 'node:url'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { createSchema } from './schema.ts'

/**
 * Prints the schema as in schema.graphql: in alphabetical order, so that its diffs show only real changes.
 */
export const printedSchema = (): string => `${printSchema(lexicographicSortSchema(createSchema()))}\n`

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(printedSchema())
