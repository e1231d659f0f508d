/**
 * `npm run dev`: builds and starts the service, and again whenever a source changes. Its data is in .dev, not in the
 * folder of an installation. With `--seed`, an empty workspace gets data to look at; with `--inspect`, a debugger
 * can attach. While a build fails, the service that runs stays.
 *
 * Plain JavaScript, because nothing is built yet when it runs.
 */
import './node-version.mjs' // first
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'

/** Interval in milliseconds at which the sources are looked at. */
const POLL_MS = 300

const root = path.dirname(import.meta.dirname)
const at = (...parts) => path.join(root, ...parts)
const { seed, inspect } = parseArgs({
  options: { seed: { type: 'boolean' }, inspect: { type: 'boolean' } },
}).values
const env = { ...process.env, DATA_DIR: path.resolve(process.env.DATA_DIR ?? at('.dev')) }
const isFirstStart = !fs.existsSync(path.join(env.DATA_DIR, 'owner-token'))

const say = (line) => process.stdout.write(`${line}\n`)

const generated = at('src', 'db', 'generated')

/**
 * Returns the names, sizes and times of all sources. They are polled: Node 20 misses changes of files that editors
 * replace when it watches folders recursively on Linux.
 */
const snapshot = () =>
  ['src', 'prisma']
    .flatMap((folder) => fs.readdirSync(at(folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(generated))
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name)
      const { mtimeMs, size } = fs.statSync(file, { throwIfNoEntry: false }) ?? {}
      return `${file} ${mtimeMs} ${size}`
    })
    .join('\n')

const runNode = (args, options = {}) => spawn(process.execPath, args, { cwd: root, env, ...options })

const build = async () => {
  const [code] = await once(
    runNode([at('src', 'build.mjs'), '--progress', 'starting'], { stdio: 'inherit' }),
    'exit',
  )
  return code === 0
}

/** What follows the first start: a link to sign in, and the data. */
const welcome = async ({ http, smtp }) => {
  const settings = { ...env, PORT: new URL(http).port }
  if (!isFirstStart) {
    const options = { cwd: root, env: settings }
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [at('dist', 'main.js'), 'sign-in'],
      options,
    )
    say(`Sign in in a browser (once, within 10 minutes): ${JSON.parse(stdout).url}`)
  }
  if (seed)
    await once(
      runNode(['--import', 'tsx', at('test', 'support', 'seed-dev.ts'), http, smtp], { stdio: 'inherit' }),
      'exit',
    )
}

let isWelcomed = false
const hear = (line) => {
  say(line)
  if (isWelcomed || !line.startsWith('{"ready":true')) return
  isWelcomed = true
  welcome(JSON.parse(line)).catch((error) => say(error.message))
}

/** Starts the service. Returns a function that stops it. */
const start = () => {
  const flags = ['--enable-source-maps', ...(inspect ? ['--inspect'] : [])]
  const service = runNode([...flags, at('dist', 'main.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(service, 'exit')
  let isWanted = true
  createInterface({ input: service.stdout }).on('line', hear)
  ended.then(() => {
    if (isWanted) say('The service has ended; it is started again after the next change.')
  })
  return async () => {
    isWanted = false
    service.kill('SIGTERM')
    await ended
  }
}

let stop = async () => undefined
let isEnding = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, async () => {
    isEnding = true
    await stop()
    process.exit(0)
  })

let built
for (let seen; ; await sleep(POLL_MS)) {
  const now = snapshot()
  const isComplete = now === seen
  seen = now
  if (now === built || !isComplete) continue
  built = now
  if (!(await build())) continue
  await stop()
  if (!isEnding) stop = start()
}
