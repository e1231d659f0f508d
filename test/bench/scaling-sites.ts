import { type Bench, startBenchOn, startPostgres } from './machinery.ts'
import { createEndpoints, type Ends, type Way } from './mail-way.ts'

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
