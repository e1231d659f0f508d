#!/usr/bin/env node
/**
 * Stands in for Prisma's native `schema-engine` binary, which Prisma downloads from its own servers: the same command line and the same
 * JSON-RPC over stdin and stdout, answered by @prisma/schema-engine-wasm, which comes from the package registry. `prisma/config.ts`
 * names it to Prisma (PRISMA_SCHEMA_ENGINE_BINARY), so `npm run prisma -- migrate dev|deploy|status|diff|reset` works offline.
 *
 * What Prisma does with the binary (7.10):
 * - `schema-engine --version` prints the engine's commit;
 * - `schema-engine cli --datasource <json> can-connect-to-database|create-database|drop-database` answers by exit code, with a JSON log
 *   line on stderr that carries the error code;
 * - `schema-engine --datasource <json> [--datamodels <files>]` serves one JSON-RPC request a line on stdin, until stdin ends. A `diff`
 *   prints through a `print` request of its own that goes the other way.
 */
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import { SchemaAdapter, urlOf } from './engine-adapter.mjs'

const COMMIT = '0edf323efd1d98336f3f0a68684b56f689b900d3'

const argument = (name) => {
  const index = process.argv.indexOf(name)
  return index > 0 ? process.argv[index + 1] : undefined
}
const datasource = argument('--datasource')
const url = datasource ? JSON.parse(datasource).url : process.env.DATABASE_URL

function log(level, message, extra) {
  const line = {
    timestamp: new Date().toISOString(),
    level,
    fields: { message, ...extra },
    target: 'schema_engine::logger',
  }
  process.stderr.write(`${JSON.stringify(line)}\n`)
}

async function queryIn(database, sql) {
  const client = new pg.Client({ connectionString: urlOf(url, database) })
  await client.connect()
  try {
    if (sql) await client.query(sql)
  } finally {
    await client.end()
  }
}

const codeOf = (error) => ({ '3D000': 'P1003', '28P01': 'P1000' })[error.code] ?? 'P1001'

/** `schema-engine cli <command>` */
async function cli(command) {
  log('INFO', 'Starting schema engine CLI') // Prisma drops the first line
  const { hostname, port, pathname } = new URL(url)
  const database = decodeURIComponent(pathname.slice(1))
  const quoted = `"${database.replaceAll('"', '""')}"`
  try {
    if (command === 'create-database') await queryIn('postgres', `CREATE DATABASE ${quoted}`)
    else if (command === 'drop-database')
      await queryIn('postgres', `DROP DATABASE IF EXISTS ${quoted} WITH (FORCE)`)
    else await queryIn(database)
    log('INFO', 'Connection successful')
  } catch (error) {
    const meta = { database_name: database, database_host: hostname, database_port: port }
    log('ERROR', error.message, { is_panic: false, message: error.message, error_code: codeOf(error), meta })
    process.exitCode = 1
  }
}

async function loadEngine() {
  const file = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm/schema_engine_bg')
    .replace(/\.js$/, '.wasm')
  const { instance } = await WebAssembly.instantiate(fs.readFileSync(file), {
    './schema_engine_bg.js': bindings,
  })
  bindings.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  globalThis.PRISMA_WASM_PANIC_REGISTRY = {
    set_message: (message) => log('ERROR', message, { is_panic: true }),
  }
  const datamodels = argument('--datamodels')
    ?.split(',')
    .map((name) => [name, fs.readFileSync(name, 'utf8')])
  const trace = (line) => process.env.DEBUG && process.stderr.write(`${line}\n`)
  return bindings.SchemaEngine.new(
    { datamodels },
    trace,
    bindMigrationAwareSqlAdapterFactory(new SchemaAdapter(url)),
  )
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

/** One request. What each of the exceptions is for: the two engines differ there. */
async function call(engine, id, method, params = {}) {
  if (method === 'createMigration' || method === 'evaluateDataLoss') {
    await engine.devDiagnostic({ migrationsList: params.migrationsList, filters: params.filters }) // fills its cache of the schema
  }
  const result = await engine[method](method === 'diff' ? { exitCode: null, ...params } : params)
  if (method === 'diff' && result.stdout != null)
    send({ id: 1e6 + id, method: 'print', params: { content: result.stdout } })
  return method === 'reset' ? null : (result ?? {})
}

function serve() {
  const engine = loadEngine()
  engine.catch((error) => log('ERROR', error.message))
  const answer = async ({ id, method, params }) => {
    try {
      send({ id, result: await call(await engine, id, method, params) })
    } catch (error) {
      const data = {
        is_panic: false,
        message: error.message ?? String(error),
        meta: error.meta ?? null,
        error_code: error.code ?? null,
      }
      send({
        id,
        error: { code: 4466, message: 'An error happened. Check the data field for details.', data },
      })
    }
  }
  let queue = Promise.resolve()
  const lines = createInterface({ input: process.stdin })
  lines.on('line', (line) => {
    const request = line.trim() ? JSON.parse(line) : {}
    if (request.method) queue = queue.then(() => answer(request)) // else it answers our `print`
  })
  lines.on('close', () => queue.then(() => process.exit()))
}

if (process.argv.includes('--version') || process.argv.includes('-V'))
  process.stdout.write(`schema-engine-cli ${COMMIT}\n`)
else if (process.argv.includes('cli')) await cli(process.argv.at(-1))
else serve()
