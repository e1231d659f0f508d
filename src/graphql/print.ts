import { pathToFileURL } from 'node:url'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { createSchema } from './schema.ts'

/** The schema as schema.graphql has it: in alphabetical order, so that a change shows as what it is. */
export const printedSchema = (): string => `${printSchema(lexicographicSortSchema(createSchema()))}\n`

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(printedSchema())
