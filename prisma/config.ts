import { join } from 'node:path'
import { defineConfig } from 'prisma/config'

/**
 * Prisma's settings, read by every one of its commands (`--config prisma/config.ts`).
 *
 * Prisma downloads a native schema engine from its own servers and wants it even for `generate`, which doesn't use it. `engine.mjs`
 * stands in for it, so that nothing but the package registry has to be reachable. Set here, it is early enough.
 */
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= join(import.meta.dirname, 'engine.mjs')

// Migrations need a session: a pooler in transaction mode has none.
const url = process.env.DATABASE_DIRECT_URL ?? process.env.DATABASE_URL

export default defineConfig({
  schema: 'schema.prisma',
  migrations: { path: 'migrations' },
  ...(url === undefined ? {} : { datasource: { url } }),
})
