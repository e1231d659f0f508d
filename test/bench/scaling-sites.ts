import { type Bench, startBenchOn, startPostgres, startProcess } from './machinery.ts'
import { createEndpoints, type Ends, type MailEndpoint, type Way } from './mail-way.ts'

/** The service on a database, with the processes whose CPU is counted. */
export interface Site extends Way {
  bench: Bench
  /** Processes of the service. */
  node: number[]
  /** The server that they are connected to. */
  postgres: number
  stop(): Promise<void>
}

export const AGENTS = 20

interface Options {
  environment?: Record<string, string>
  /** Worker processes beside one with the other roles; undefined: one process with all roles. */
  workerProcesses?: number
}

/** Starts the service on a PostgreSQL as it embeds it, with agents whose webhooks are at the receiver. */
export const openSite = async (ends: Ends, { environment = {}, workerProcesses }: Options): Promise<Site> => {
  const roles: Record<string, string> = workerProcesses === undefined ? {} : { ROLES: 'api,smtp' }
  const postgres = await startPostgres()
  const bench = await startBenchOn(postgres, { ...environment, ...roles })
  const others = await Promise.all(
    Array.from({ length: workerProcesses ?? 0 }, () => bench.another({ ROLES: 'worker' })),
  )
  return {
    bench,
    port: bench.smtp.port,
    endpoints: await createEndpoints(bench, ends, AGENTS),
    node: [bench, ...others].map(({ pid }) => pid),
    postgres: postgres.pid,
    stop: async () => {
      await Promise.all([bench, ...others].map((service) => service.stop()))
    },
  }
}

/** Installations, between which the agents are divided, behind a front. */
export interface Fleet extends Way {
  /** The processes of each: the service and its PostgreSQL. */
  installations: number[][]
  /** None if there is one installation, without a front. */
  front: number[]
}

interface FleetOptions {
  environment: Record<string, string>
  installations: number
  front?: boolean
}

/** What a front and its installations have in common. */
const SHARED = { CELL_SECRET: 'shared-by-a-front-and-its-installations', PUBLIC_URL: 'http://localhost:4000' }

/** Starts installations with databases of their own, and a front. */
export const openFleet = async (
  ends: Ends,
  { environment, installations: count, front = true }: FleetOptions,
): Promise<Fleet> => {
  const installations: number[][] = []
  const endpoints: MailEndpoint[] = []
  const cells: string[] = []
  let port = 0
  for (let n = 0; n < count; n++) {
    const postgres = await startPostgres()
    const own = { ...SHARED, TRUST_PROXY: '127.0.0.1', MAIL_DOMAIN: `installation-${n}.example` }
    const bench = await startBenchOn(postgres, { ...environment, ...own })
    endpoints.push(...(await createEndpoints(bench, ends, AGENTS / count)))
    installations.push([bench.pid, postgres.pid])
    cells.push(`${bench.http} smtp://${bench.smtp.host}:${bench.smtp.port}`)
    port = bench.smtp.port
  }
  if (!front) return { installations, endpoints, front: [], port }
  const settings = { ...SHARED, ROLES: 'front', CELLS: cells.join(', '), LOG_LEVEL: 'error' }
  const { pid, smtp } = await startProcess(settings)
  return { installations, endpoints, front: [pid], port: smtp.port }
}
