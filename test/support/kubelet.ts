import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Container, Probe } from 'kubernetes-types/core/v1.d.ts'
import { environmentOf, type Pods } from './manifests.ts'
import { runIn, type ServiceProcess } from './process.ts'
import { until } from './until.ts'

/**
 * What a node of a cluster does with a pod, by hand: volumes are folders, its address is one of the loopback network,
 * where the ports are those of the manifest, and containers are processes. Only Linux has such addresses.
 */

export interface PodOptions {
  /** The copy of the project that stands for the image. */
  image: string
  /** Where volumes are made. */
  folder: string
  /** Values of what the operator fills in, and of what only a test needs. */
  filled: Record<string, string>
  /** Fills a volume with the files of a Secret. */
  fill?(volume: string, folder: string): void
  /** How many times faster than in the manifest the probes follow each other. */
  speed?: number
}

export interface Stopped {
  code: number | null
  /** Whether its grace period was over, or liveness failed. */
  killed: boolean
  ms: number
}

let pods = 0

export class Pod {
  readonly labels: Record<string, string>
  /** Its own address. */
  readonly ip = `127.${[...randomBytes(2)].join('.')}.${++pods}`
  ready = false
  /** How often liveness or startup failed so that the container was to be restarted. */
  restarts = 0
  /** What its init containers printed. */
  prepared = ''
  /** Probes of liveness that succeeded. */
  alive = 0
  readonly #spec: NonNullable<Pods['template']['spec']>
  readonly #options: PodOptions
  readonly #container: Container
  #service: ServiceProcess | undefined
  #ended = false

  constructor({ template }: Pods, options: PodOptions) {
    this.labels = template.metadata!.labels!
    this.#spec = template.spec!
    this.#container = this.#spec.containers[0]!
    this.#options = options
    for (const { name } of this.#spec.volumes!) mkdirSync(this.#volume(name), { recursive: true })
    for (const { name, secret } of this.#spec.volumes!)
      if (secret) options.fill!(secret.secretName!, this.#volume(name))
  }

  #volume(name: string): string {
    return join(this.#options.folder, this.ip, name)
  }

  get log(): string {
    return this.#service?.stderr ?? ''
  }

  /** Runs a container's process, with its paths in the folders of its volumes. */
  #run(container: Container): ServiceProcess {
    if (container.command) throw new Error('a command in place of that of the image is not expected')
    const read = environmentOf(container, this.#options.filled)
    const place = (value: string): string => {
      const mount = container.volumeMounts!.find(({ mountPath }) => `${value}/`.startsWith(`${mountPath}/`))
      return mount ? this.#volume(mount.name) + value.slice(mount.mountPath.length) : value
    }
    const settings = Object.entries(read).map(([name, value]) => [
      name,
      value === '0.0.0.0' ? this.ip : place(value),
    ])
    const surroundings = { PORT: '', SMTP_PORT: '', TMPDIR: place('/tmp'), HOME: this.#volume('home') }
    return runIn(
      this.#options.image,
      { ...surroundings, ...Object.fromEntries(settings) },
      ...(container.args ?? []),
    )
  }

  address(port: string | number): string {
    const found = this.#container.ports!.find(({ name }) => name === port)
    if (!found) throw new Error(`the container has no port ${port}`)
    return `${this.ip}:${found.containerPort}`
  }

  /** Starts it, and resolves when it is ready. */
  async start(): Promise<void> {
    for (const container of this.#spec.initContainers ?? []) {
      const ran = this.#run(container)
      const { code } = await ran.exited
      if (code !== 0) throw new Error(`${container.name} ended with ${code}: ${ran.stderr}`)
      this.prepared += ran.stdout
    }
    this.#service = this.#run(this.#container)
    void this.#watch()
    await until(() => this.ready || this.restarts > 0)
    if (!this.ready) throw new Error(`the pod did not become ready: ${this.log}`)
  }

  async #watch(): Promise<void> {
    const { startupProbe, livenessProbe, readinessProbe } = this.#container
    const started = await this.#probe(startupProbe!, (ok) => ok)
    if (!started) return this.#restart()
    void this.#probe(readinessProbe!, (ok) => {
      this.ready = ok
    })
    const live = await this.#probe(livenessProbe!, (ok) => {
      if (ok) this.alive++
    })
    if (!live) this.#restart()
  }

  /** Liveness ends a container; the tests expect that it never does. */
  #restart(): void {
    if (this.#ended) return
    this.restarts++
    this.#service?.kill('SIGKILL')
  }

  /**
   * Probes until `found` returns true, which is told of each success, and of a failure once there are as many as the
   * probe allows. Liveness and startup end with the first such failure, readiness goes on. Resolves with the last result.
   */
  async #probe(probe: Probe, found: (ok: boolean) => unknown): Promise<boolean> {
    const { httpGet, periodSeconds = 10, timeoutSeconds = 1, failureThreshold = 3 } = probe
    const url = `http://${this.address(httpGet!.port)}${httpGet!.path}`
    const isFinal = probe !== this.#container.readinessProbe
    for (let failures = 0; ; ) {
      const ok = await fetch(url, { signal: AbortSignal.timeout(timeoutSeconds * 1000), keepalive: false })
        .then(async (response) => (await response.text()) !== '' && response.ok)
        .catch(() => false)
      failures = ok ? 0 : failures + 1
      if (ok && found(true) === true) return true
      if (failures >= failureThreshold) {
        found(false)
        if (isFinal) return false
      }
      await sleep((periodSeconds * 1000) / (this.#options.speed ?? 1))
      if (this.#ended) return true
    }
  }

  /** Deletes the pod: asks it to end, and kills it when its grace period is over. */
  async stop(): Promise<Stopped> {
    const { lifecycle } = this.#container
    if (lifecycle) throw new Error('hooks are not expected: the service drains by itself')
    const began = performance.now()
    this.#service!.kill('SIGTERM')
    let killed = false
    const grace = setTimeout(() => {
      killed = true
      this.#service!.kill('SIGKILL')
    }, this.#spec.terminationGracePeriodSeconds! * 1000)
    const { code } = await this.#service!.exited
    clearTimeout(grace)
    this.#ended = true
    this.ready = false
    return { code, killed, ms: performance.now() - began }
  }
}

/**
 * Replaces all pods of a deployment by pods with another image, as its strategy says: some more than it has, and never
 * fewer. Returns how each of them ended.
 */
export const rollOut = async (
  { replicas, strategy }: Pods,
  running: Pod[],
  create: () => Pod,
): Promise<Promise<Stopped>[]> => {
  const { maxSurge, maxUnavailable } = strategy!.rollingUpdate!
  if (maxUnavailable !== 0) throw new Error('pods are not expected to go before others have come')
  const ends: Promise<Stopped>[] = []
  const old = running.splice(0)
  while (running.length < replicas!) {
    const fresh = Array.from({ length: Math.min(Number(maxSurge), old.length) }, create)
    running.push(...fresh)
    await Promise.all(fresh.map((pod) => pod.start()))
    ends.push(...old.splice(0, fresh.length).map((pod) => pod.stop()))
  }
  return ends
}
