/**
 * PrismaPg made fit for the WebAssembly schema engine. As it stands (7.10) it is not, in four ways:
 *
 * 1. It runs on a pool, but migrations need one session: advisory locks, SET and temporary tables belong to a connection.
 * 2. `executeScript` splits at every semicolon, also inside of strings and function bodies.
 * 3. The catalogue's type `"char"` (oid 18) comes back as an unknown type, and introspection stops.
 * 4. Its shadow database is the main one when the pool was made from a connection string, which overrides `database`.
 */
import { randomUUID } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import pg from 'pg'

const OID_CHAR = 18
const OID_TEXT = 25

/** The same server, another database. */
export function urlOf(url, database) {
  const other = new URL(url)
  other.pathname = `/${encodeURIComponent(database)}`
  return other.href
}

/** Reads `"char"` columns as text and then says that they are characters, as the native engine does. */
function readCharacters(adapter) {
  const performIO = adapter.performIO.bind(adapter)
  const queryRaw = adapter.queryRaw.bind(adapter)
  adapter.queryRaw = async (query) => {
    const { fields, rows } = await performIO(query)
    const isChar = fields.map((field) => field.dataTypeID === OID_CHAR)
    const asText = fields.map((field, i) => (isChar[i] ? { ...field, dataTypeID: OID_TEXT } : field))
    adapter.performIO = async () => ({ fields: asText, rows })
    try {
      const result = await queryRaw(query)
      return {
        ...result,
        columnTypes: result.columnTypes.map((type, i) => (isChar[i] ? ColumnTypeEnum.Character : type)),
      }
    } finally {
      adapter.performIO = performIO
    }
  }
}

async function open(url, afterwards = async () => {}) {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const adapter = await new PrismaPg(pool).connect()
  adapter.executeScript = async (script) => {
    try {
      // One simple-protocol message: PostgreSQL splits it, in one implicit transaction, but for what says that it needs none
      // (src/db/migrate.ts).
      for (const part of script.split('-- no-transaction')) await pool.query(part)
    } catch (error) {
      adapter.onError(error)
    }
  }
  readCharacters(adapter)
  adapter.dispose = async () => {
    await pool.end()
    await afterwards()
  }
  return adapter
}

/** What `bindMigrationAwareSqlAdapterFactory` takes. */
export class SchemaAdapter {
  provider = 'postgres'
  adapterName = '@prisma/adapter-pg'

  constructor(url) {
    this.url = url
  }

  connect() {
    return open(this.url)
  }

  async connectToShadowDb() {
    const name = `prisma_migrate_shadow_db_${randomUUID()}`
    const admin = new pg.Client({ connectionString: this.url })
    await admin.connect()
    await admin.query(`CREATE DATABASE "${name}"`)
    return open(urlOf(this.url, name), async () => {
      await admin.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)
      await admin.end()
    })
  }
}
