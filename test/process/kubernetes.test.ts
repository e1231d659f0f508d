import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceSpec } from 'kubernetes-types/core/v1.d.ts'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startDns } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { openEvents } from '../support/events.ts'
import { Pod, type PodOptions, rollOut, type Stopped } from '../support/kubelet.ts'
import { deliver } from '../support/mail.ts'
import { named, type Pods, selects } from '../support/manifests.ts'
import { execute, temporaryDir, urlOf } from '../support/postgres.ts'
import { cleanUp } from '../support/process.ts'
import { createReceiver } from '../support/receiver.ts'
import { startRelay } from '../support/relay.ts'
import { openBucket } from '../support/s3.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startWire } from '../support/wire.ts'

/** The manifests of docs/deployment/kubernetes, with the test as the cluster: nothing of them is repeated here. */

const root = join(import.meta.dirname, '..', '..')
const folder = temporaryDir()
const name = `kubernetes_${randomBytes(6).toString('hex')}`
const database = urlOf(inject('postgres').url, name)
const ownerToken = randomBytes(32).toString('hex')
const isLinux = process.platform === 'linux'

/** A copy of what an image has, with migrations that a later release may bring: they add tables and columns. */
const imageOf = (version: string, ...migrations: string[]): string => {
  const image = join(folder, version)
  mkdirSync(join(image, 'prisma'), { recursive: true })
  for (const part of ['dist', 'package.json', 'prisma/migrations'])
    cpSync(join(root, part), join(image, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(image, 'node_modules'))
  for (const [index, sql] of migrations.entries()) {
    const added = join(image, 'prisma', 'migrations', `2999123100000${index}_later`)
    mkdirSync(added)
    writeFileSync(join(added, 'migration.sql'), sql)
  }
  return image
}

const LATER = `
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' LOOP
      EXECUTE format('ALTER TABLE %I ADD COLUMN later_release text NOT NULL DEFAULT ''x''', name);
    END LOOP;
  END $$;`

let filled: Record<string, string>
let certificate: { cert: string; private: string }

beforeAll(async () => {
  execFileSync(process.execPath, [join(root, 'src', 'build.mjs')])
  await execute(inject('postgres').url, `CREATE DATABASE ${name}`)
  certificate = await generate([{ name: 'commonName', value: 'mx.example.com' }], { keyType: 'ec' })
  const dns = await startDns(proves('example.com'))
  filled = {
    DATABASE_URL: database,
    MASTER_KEY: randomBytes(32).toString('base64'),
    OWNER_TOKEN: ownerToken,
    DNS_SERVERS: dns.address,
    WEBHOOK_ALLOW: '127.0.0.1',
    RATE_LIMIT: '1000000',
    ...(await openBucket()).environment,
  }
})
afterAll(async () => {
  await cleanUp(folder)
  await execute(inject('postgres').url, `DROP DATABASE ${name} WITH (FORCE)`)
})

const specOf = (deployment: string): Pods => named<{ spec: Pods }>('Deployment', deployment).spec

const podsOf = (image: string, more: Partial<PodOptions> = {}): PodOptions => ({
  image,
  folder: join(folder, 'volumes'),
  filled,
  fill(secret, volume) {
    if (secret !== 'agent-messaging-smtp') throw new Error(`nothing is known of the Secret ${secret}`)
    writeFileSync(join(volume, 'tls.crt'), certificate.cert)
    writeFileSync(join(volume, 'tls.key'), certificate.private)
  },
  ...more,
})

/** Where a connection to a Service goes: to its pods in turn, as long as their probes say that they are ready. */
const balancer = (pods: readonly Pod[]) => {
  let turn = 0
  return (service: string): string => {
    const { selector, ports } = named<{ spec: ServiceSpec }>('Service', service).spec
    const ready = pods.filter((pod) => pod.ready && selects(selector!, pod.labels))
    if (ready.length === 0) throw new Error(`no pod of ${service} is ready`)
    return ready[turn++ % ready.length]!.address(ports![0]!.targetPort!)
  }
}
type Balancer = ReturnType<typeof balancer>

/** Repeats work until `over`, and collects what fails. */
const repeat = async (
  over: AbortSignal,
  failures: string[],
  paceMs: number,
  work: () => Promise<unknown>,
) => {
  while (!over.aborted) {
    await work().catch((error: Error) => failures.push(`${error.message} ${error.cause ?? ''}`))
    await sleep(paceMs) // sets the rate of the traffic
  }
}

/** Creates an agent that has a webhook, and a client whose stream goes on at another pod when one ends it. */
const listenerAt = async (to: Balancer, webhook: string, over: AbortSignal) => {
  const api = (token: string) => apiOf(`http://${to('agent-messaging')}`, token)
  const { id } = (await api(ownerToken)('POST', '/agents', { name: 'Bot', icon: 'bot' })).body
  await api(ownerToken)('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  const [{ value: address }] = (await api(ownerToken)('GET', `/agents/${id}/addresses`)).body
  const { token } = (await api(ownerToken)('POST', `/agents/${id}/tokens`, {})).body
  const { secret } = (await api(ownerToken)('POST', `/agents/${id}/webhooks`, { url: webhook })).body
  const connection = await api(token)('PUT', `/agents/${id}/connection`, { client: 'c', machine: 'm' })
  const heard: number[] = []
  let streams = 0
  const listen = async () => {
    const url = `http://${to('agent-messaging')}/agents/${id}/connections/${connection.body.id}/events?after=0`
    const last = heard.at(-1)
    const stream = await openEvents(url, token, last ? { 'Last-Event-ID': String(last) } : {})
    if (stream.status !== 200) throw new Error(`a stream was answered ${stream.status}`)
    streams++
    const close = () => stream.close()
    over.addEventListener('abort', close)
    await stream.ended.catch((error) => (over.aborted ? undefined : Promise.reject(error)))
    over.removeEventListener('abort', close)
    heard.push(...stream.frames.flatMap((frame) => frame.id ?? []))
  }
  return { id, address, secret, heard, listen, streams: () => streams }
}

/** The files in a folder that are newer than the file `since`. */
const writtenIn = (dir: string, since: string): string[] =>
  execFileSync('find', [`${dir}/`, '-newer', since, '-not', '-type', 'd'], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
    .map((path) => relative(dir, path))
    .sort()

/** Two minutes, and more where others work: `ROLLOUT=1`. */
test.skipIf(!isLinux || !process.env.ROLLOUT)(
  'a rollout of the next release and its undoing lose and refuse nothing, and no pod writes outside its volumes (needs Linux)',
  async () => {
    const [relay, receiver] = [await startRelay(), await createReceiver()]
    filled.SMTP_RELAY_URL = relay.url
    const [now, next] = [imageOf('now'), imageOf('next', LATER)]
    const begun = join(folder, 'begun')
    writeFileSync(begun, '')
    const deployments = ['agent-messaging-interfaces', 'agent-messaging-workers'].map((name) => ({
      spec: specOf(name),
      running: [] as Pod[],
    }))
    const all: Pod[] = []
    const create = (spec: Pods, image: string) => {
      const pod = new Pod(spec, podsOf(image))
      all.push(pod)
      return pod
    }
    // All at once on an empty database, as kubectl apply does.
    for (const { spec, running } of deployments)
      running.push(...Array.from({ length: spec.replicas! }, () => create(spec, now)))
    await Promise.all(deployments.flatMap(({ running }) => running.map((pod) => pod.start())))

    const to = balancer(all)
    const [over, gone] = [new AbortController(), new AbortController()]
    const failures: string[] = []
    const agent = await listenerAt(to, `${receiver.url}/hook`, gone.signal)
    receiver.expect('/hook', agent.secret)
    const mails: string[] = []
    const sends: string[] = []
    const mail = (attached: number) => async () => {
      const subject = `mail ${mails.length}`
      mails.push(subject)
      const attachments = attached > 0 ? [{ filename: 'a.bin', content: randomBytes(attached) }] : []
      const from = `s${mails.length}@example.com`
      await deliver(to('agent-messaging-mx'), { from, to: agent.address, subject, text: 'hi', attachments })
    }
    const ask = (method: string, path: string, body?: object) =>
      apiOf(`http://${to('agent-messaging')}`, ownerToken)(method, path, body)
    const send = async () => {
      const subject = `send ${sends.length}`
      sends.push(subject)
      const letter = { channel: 'email', to: ['bo@example.com'], subject, text: 'hi' }
      const { status, text } = await ask('POST', `/agents/${agent.id}/messages`, letter)
      if (status !== 201) throw new Error(`a send was answered ${status} ${text}`)
    }
    const list = async () => {
      const { status, text } = await ask('GET', `/agents/${agent.id}/messages?limit=5`)
      if (status !== 200) throw new Error(`a list was answered ${status} ${text}`)
    }
    const load = [
      repeat(over.signal, failures, 30, mail(0)),
      repeat(over.signal, failures, 2_000, mail(3_000_000)),
      repeat(over.signal, failures, 1_200, send),
      repeat(over.signal, failures, 30, list),
    ]
    const listening = repeat(gone.signal, failures, 0, agent.listen)

    const rollOutAll = async (image: string): Promise<Promise<Stopped>[]> => {
      const ends = deployments.map(({ spec, running }) => rollOut(spec, running, () => create(spec, image)))
      return (await Promise.all(ends)).flat()
    }
    const ends = [...(await rollOutAll(next)), ...(await rollOutAll(now))]
    const stopped = await Promise.all(ends)
    over.abort()
    await Promise.all(load)
    expect(failures).toEqual([])
    await until(() => relay.mails.length >= sends.length)
    await receiver.got('/hook', mails.length)
    const last = await ask('GET', `/agents/${agent.id}/events?after=${mails.length - 1}`)
    expect(last.body.items).toHaveLength(1)
    gone.abort()
    await listening
    const left = deployments.flatMap(({ running }) => running)
    stopped.push(...(await Promise.all(left.map((pod) => pod.stop()))))
    await Promise.all([relay.stop(), receiver.close()])

    const ids = mails.map((_, index) => index + 1)
    expect(failures).toEqual([])
    expect(agent.heard).toEqual(ids)
    expect(agent.streams()).toBeGreaterThan(2)
    expect(receiver.received.map(({ verified }) => Number(verified?.cursor))).toEqual(ids)
    expect(relay.mails.map(({ mail }) => mail.subject).sort()).toEqual([...sends].sort())
    expect(all.map(({ restarts }) => restarts)).toEqual(all.map(() => 0))
    expect(stopped).toHaveLength(all.length)
    for (const end of stopped) expect(end).toMatchObject({ code: 0, killed: false })
    for (const pod of all) expect(pod.log).not.toContain('"level":"error"')
    const migrated = all.map(({ prepared }) => JSON.parse(prepared).migrated as string[])
    expect(migrated.filter((names) => names.length > 0)).toHaveLength(2)
    expect(migrated.filter((names) => names[0] === '29991231000000_later')).toHaveLength(1)
    expect([now, next].flatMap((image) => writtenIn(image, begun))).toEqual([])
    const volumes = writtenIn(join(folder, 'volumes'), begun).map((path) => path.replace(/^[\d.]+\//, ''))
    expect([...new Set(volumes)].sort()).toEqual([
      'data/installed',
      'data/owner-token',
      'tls/tls.crt',
      'tls/tls.key',
    ])
  },
)

test.skipIf(!isLinux)(
  'pods without a database are not ready, are not restarted for it, and go on by themselves (needs Linux)',
  async () => {
    const wire = await startWire(database)
    const spec = specOf('agent-messaging-interfaces')
    const { failureThreshold } = spec.template.spec!.containers[0]!.livenessProbe!
    const pod = new Pod(
      spec,
      podsOf(imageOf('alone'), { speed: 20, filled: { ...filled, DATABASE_URL: wire.url } }),
    )
    await pod.start()
    await wire.cut()
    await until(() => !pod.ready)
    const before = pod.alive
    await until(() => pod.alive > before + failureThreshold! || pod.restarts > 0)
    expect(pod).toMatchObject({ ready: false, restarts: 0 })
    await wire.mend()
    await until(() => pod.ready)
    expect(pod.restarts).toBe(0)
    expect(await pod.stop()).toMatchObject({ code: 0, killed: false })
    await wire.cut()
  },
)
