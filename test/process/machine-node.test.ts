import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startDns } from '../support/dns.ts'
import { deliver, dkimKey } from '../support/mail.ts'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, runWith } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Where npm brings no Node for the platform, the service runs on the machine's, which may be an older one. */

const root = join(import.meta.dirname, '..', '..')
const ownBin = join('node_modules', '.bin')
const machine = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.endsWith(ownBin))
  .map((folder) => join(folder, 'node'))
  .find((node) => spawnSync(node, ['--version']).status === 0)
const versionOf = (node: string) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()

const dataDir = temporaryDir()
afterAll(() => cleanUp(dataDir))

test.skipIf(!machine || versionOf(machine) === process.version)(
  "on the machine's own Node, a signed mail is proven, read and answered (skipped where that is the one of the tests)",
  async () => {
    const key = dkimKey('example.com')
    const dns = await startDns({
      [key.name]: { TXT: [key.txt] },
      '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
    })
    const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'error', DNS_SERVERS: dns.address }
    const service = runWith(machine!, root, settings)
    const { http, smtp } = await service.ready()
    const api = apiOf(http, readFileSync(join(dataDir, 'owner-token'), 'utf8').trim())
    const { id } = (await api('POST', '/agents', { name: 'Support', icon: 'bot' })).body
    const [{ value: to }] = (await api('GET', `/agents/${id}/addresses`)).body
    await api('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
    await deliver(smtp, { from: 'ann@example.com', to, subject: 'Hi', text: 'Where is it?', sign: key })
    const [mail] = (await api('GET', `/agents/${id}/messages`)).body.items
    expect(mail).toMatchObject({ subject: 'Hi', text: 'Where is it?', status: 'received' })
    const { checks } = (await api('GET', `/agents/${id}/messages/${mail.id}`)).body
    expect(checks).toContainEqual({
      name: 'dmarc',
      verdict: 'pass',
      detail: 'DKIM of example.com is aligned with From (p=reject)',
    })
    const { body: answer } = await api('POST', `/agents/${id}/messages`, { replyTo: mail.id, text: 'Here.' })
    await until(async () => (await api('GET', `/agents/${id}/messages/${answer.id}`)).body.status === 'sent')
    service.kill('SIGTERM')
    expect((await service.exited).code).toBe(0)
    expect(service.stderr).toBe('')
    await dns.stop()
  },
)
