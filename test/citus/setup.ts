import type { TestProject } from 'vitest/node'
import { silentLogger } from '../../src/core/logger.ts'
import { distribute } from '../../src/db/distribute/distribute.ts'
import { migrate } from '../../src/db/migrate.ts'
import { errorLogger, execute, migrations } from '../support/postgres.ts'
import { type CitusCluster, startCluster } from './cluster.ts'

const TEMPLATE = 'ams_template'

/** Few, since every test file gets a copy of all of them. */
const SHARDS = 4

const prepareTemplate = async ({ coordinator, workers, createDatabase }: CitusCluster): Promise<void> => {
  const url = await createDatabase(TEMPLATE)
  await migrate(url, migrations, errorLogger)
  await distribute(url, { shards: SHARDS, log: silentLogger, progress: () => undefined })
  // A database can be copied while nobody is connected to it, and Citus' own processes are.
  for (const node of [coordinator, ...workers])
    await execute(
      node.url,
      `alter database ${TEMPLATE} allow_connections false`,
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${TEMPLATE}'`,
    )
}

/** vitest's globalSetup: starts a cluster, and distributes the template of the databases. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const cluster = await startCluster()
  try {
    await prepareTemplate(cluster)
  } catch (error) {
    await cluster.stop()
    throw error
  }
  const { coordinator, workers } = cluster
  project.provide('postgres', {
    url: coordinator.url,
    template: TEMPLATE,
    workers: workers.map(({ url }) => url),
  })
  return () => cluster.stop()
}
