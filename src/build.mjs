/**
 * Runs first in `npm start`, `npm test` and `npm run demo`: generates Prisma's code, bundles the service
 * into dist/ and the web application into dist/dashboard, compiles the client package, and copies the other files
 * that dist/ needs. Does nothing when no input has changed. Prints errors, and with `--progress` what it does; the word after it says what
 * comes next. `npm run types` checks the types.
 *
 * Plain JavaScript, because nothing is built yet when it runs.
 */
import './node-version.mjs' // first
import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Progress } from './build-progress.mjs'

const root = path.dirname(import.meta.dirname)
const at = (...parts) => path.join(root, ...parts)
const stampFile = at('dist', '.built')
const lockFile = at('dist', '.lock')
/** What src/bundle.mjs lists. */
const bundleFile = at('dist', '.bundle.json')
/** The client is a package of its own: other compiler settings, and declarations beside its JavaScript. */
const clientPackage = path.join('src', 'client')
const infoFile = at('dist', 'client', '.tsbuildinfo')
/** The web application runs in browsers: Vite bundles it. */
const dashboard = path.join('src', 'dashboard')
const dashboardOutput = path.join('dist', 'dashboard')
const generated = path.join('src', 'db', 'generated')
const settings = [
  'package-lock.json',
  'tsconfig.json',
  'prisma/schema.prisma',
  'prisma/config.ts',
  'src/build.mjs',
  'src/bundle.mjs',
]

const silent = { isTTY: false, write: () => true }
const [, , flag, next] = process.argv
/** With `npm --silent`, stdout has what the service or a command prints, and nothing else. */
const isTold = flag === '--progress' && process.env.npm_config_loglevel !== 'silent'
const progress = new Progress(isTold ? process.stdout : silent)

/** Returns every file below `folder`, relative to the root, in a fixed order. */
const filesBelow = (folder) =>
  fs
    .readdirSync(at(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name)))
    .sort()

const isBelow = (folder) => (file) => file.startsWith(`${folder}${path.sep}`)
const isOfDashboard = isBelow(dashboard)
/** The Python package is built by `npm run client:python`. */
const isOfPython = isBelow(path.join(clientPackage, 'python'))
/** Files that npm runs from src/. */
const isScript = (file) => /^src.[\w-]+\.mjs$/.test(file)
const isBuiltElsewhere = (file) => isOfDashboard(file) || isOfPython(file)
const sources = () =>
  filesBelow('src').filter((file) => !file.startsWith(generated) && !isBuiltElsewhere(file))
const isTypeScript = (file) => file.endsWith('.ts')
const isOfClient = isBelow(clientPackage)
const outputOf = (file) => path.join('dist', path.relative('src', file)).replace(/(?<!\.d)\.ts$/, '.js')

const declarationOf = (file) => outputOf(file).replace(/\.js$/, '.d.ts')
/** The outputs of the client's sources, and the files that are copied. */
const outputsOf = (file) => {
  if (isScript(file)) return []
  if (!isTypeScript(file)) return [outputOf(file)]
  return isOfClient(file) ? [outputOf(file), declarationOf(file)] : []
}

/**
 * Returns one hash over the names and contents of `files`. Contents, because a fresh clone or a branch switch
 * changes every mtime.
 */
function hashOf(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    if (!fs.existsSync(at(file))) continue
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(at(file)))
      .update('\0')
  }
  return hash.digest('hex')
}

const readJson = (file) => {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
}
const bundleOutputs = () => readJson(bundleFile).outputs ?? [path.join('dist', 'main.js')]

/** Returns the hashes of what would be built now, and which of the three parts must be built. */
function state() {
  const stamp = readJson(stampFile)
  const now = {
    client: hashOf(settings),
    code: hashOf([...settings, ...sources()]),
    dashboard: hashOf([...settings, ...filesBelow(dashboard)]),
  }
  const missing = (files) => files.some((file) => !fs.existsSync(at(file)))
  const client =
    stamp.client !== now.client ||
    missing([path.join(generated, 'prisma', 'client.ts'), path.join(generated, 'pothos-types.ts')])
  const outputs = missing([...sources().flatMap(outputsOf), ...bundleOutputs()])
  return {
    now,
    client,
    outputs,
    code: client || outputs || stamp.code !== now.code,
    dashboard: stamp.dashboard !== now.dashboard || missing([path.join(dashboardOutput, 'index.html')]),
  }
}

const isDue = ({ code, dashboard }) => code || dashboard

const alive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/**
 * Takes over a lock whose holder no longer runs or has not touched it for 10 seconds. The rename lets only
 * one of several processes take it; a process that renamed a newer lock than the one it checked puts it back.
 */
function steal(content) {
  const mine = `${lockFile}.${randomUUID()}`
  try {
    fs.renameSync(lockFile, mine)
    if (fs.readFileSync(mine, 'utf8') !== content) fs.linkSync(mine, lockFile)
  } catch {}
  fs.rmSync(mine, { force: true })
}

function stealIfStale() {
  try {
    const content = fs.readFileSync(lockFile, 'utf8')
    const idle = Date.now() - fs.statSync(lockFile).mtimeMs
    if (idle > 10_000 || !alive(Number.parseInt(content, 10))) steal(content)
  } catch {}
}

/**
 * Runs `work` while no other build of this checkout runs. The holder touches the file, so that a reused pid
 * cannot block forever.
 */
async function locked(work) {
  fs.mkdirSync(at('dist'), { recursive: true })
  const draft = `${lockFile}.${randomUUID()}`
  const content = `${process.pid} ${randomUUID()}`
  for (let first = true; ; first = false) {
    fs.writeFileSync(draft, content)
    try {
      fs.linkSync(draft, lockFile) // atomic, and never visible half-written
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      if (first) progress.say('Another process is building this folder; waiting for it')
      stealIfStale()
      await sleep(50)
    } finally {
      fs.rmSync(draft, { force: true })
    }
  }
  const touch = setInterval(() => fs.utimesSync(lockFile, new Date(), new Date()), 1000)
  try {
    return await work()
  } finally {
    clearInterval(touch)
    fs.rmSync(lockFile, { force: true })
  }
}

const env = {
  ...process.env,
  // Prisma finds its generators there, even without npm
  PATH: `${at('node_modules', '.bin')}${path.delimiter}${process.env.PATH ?? ''}`,
  CHECKPOINT_DISABLE: '1', // no update check and no telemetry during a start
  NO_COLOR: '1',
}

/** Runs one of the project's tools; its output is shown only when it fails. */
function run(name, script, args) {
  if (!fs.existsSync(at('node_modules', script)))
    return Promise.reject(new Error('The packages are not installed: run "npm ci" first.'))
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [at('node_modules', script), ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.on('error', reject)
    child.on('close', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`${name} failed (${signal ?? code}):\n${output.trimEnd()}`)),
    )
  })
}

const hasClient = () => fs.existsSync(at(clientPackage))
const clientLicense = path.join('dist', 'client', 'LICENSE')

const bundleService = () => run('esbuild', path.join('..', 'src', 'bundle.mjs'), [at('dist')])

async function compileClient() {
  await run('tsc', 'typescript/bin/tsc', ['-p', clientPackage, '--pretty', 'false'])
  if (fs.existsSync(at('LICENSE'))) fs.copyFileSync(at('LICENSE'), at(clientLicense))
}

function copyTheRest() {
  for (const file of sources().filter((one) => !isTypeScript(one) && !isScript(one))) {
    fs.mkdirSync(path.dirname(at(outputOf(file))), { recursive: true })
    fs.copyFileSync(at(file), at(outputOf(file)))
  }
}

const isChunk = isBelow(path.join('dist', 'chunks'))
const WEEK = 7 * 24 * 60 * 60 * 1000
/** A service that still runs from an earlier build may load these later. */
const isRecentChunk = (file) => isChunk(file) && Date.now() - fs.statSync(at(file)).mtimeMs < WEEK

/** Removes from dist/ what no longer has a source. */
function prune() {
  const kept = new Set([
    ...sources().flatMap(outputsOf),
    ...bundleOutputs(),
    clientLicense,
    ...['commit', 'licenses.txt', 'sbom.cdx.json'].map((name) => path.join('dist', name)),
  ])
  for (const file of filesBelow('dist').filter((one) => !isBelow(dashboardOutput)(one))) {
    if (!path.basename(file).startsWith('.') && !kept.has(file) && !isRecentChunk(file))
      fs.rmSync(at(file), { force: true })
  }
}

const generateCode = () =>
  run('prisma generate', 'prisma/build/index.js', ['generate', '--no-hints', '--config', 'prisma/config.ts'])

async function buildService(due) {
  if (due.client) await progress.step('Generating the code that reads the database', generateCode)
  // otherwise the compiler assumes that the outputs exist
  if (due.outputs) fs.rmSync(infoFile, { force: true })
  await progress.step('Bundling the service', bundleService)
  if (hasClient()) await progress.step('Compiling the client package', compileClient)
  copyTheRest()
  prune()
}

const bundleDashboard = () => run('vite', path.join('..', dashboard, 'build.mjs'), [at(dashboardOutput)])
const buildDashboard = () => progress.step('Bundling the web application', bundleDashboard)

/** The number of steps below. */
const stepsOf = ({ client, code, dashboard }) =>
  [client, code, code && hasClient(), dashboard].filter(Boolean).length

async function build() {
  const due = state()
  if (!isDue(due)) return // another process built it while this one waited
  fs.rmSync(stampFile, { force: true })
  progress.begin(stepsOf(due))
  // Both, also if one fails: nothing may still be writing when the lock is released.
  const parts = await Promise.allSettled([due.code && buildService(due), due.dashboard && buildDashboard()])
  progress.end(next)
  for (const { reason } of parts) if (reason) throw reason
  fs.writeFileSync(stampFile, JSON.stringify(due.now))
}

/** Notes which commit is built, for the answer of /healthz, metrics and logs. Not known in an archive without history. */
function noteCommit() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  let commit = process.env.COMMIT ?? ''
  try {
    // Not that of a repository that this folder only lies in.
    if (!commit && fs.existsSync(at('.git'))) commit = git('rev-parse', '--short=12', 'HEAD').trim()
  } catch {} // git is not installed
  const file = at('dist', 'commit')
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === commit) return
  fs.mkdirSync(at('dist'), { recursive: true })
  fs.writeFileSync(file, commit)
}

try {
  if (isDue(state())) await locked(build)
  noteCommit()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
