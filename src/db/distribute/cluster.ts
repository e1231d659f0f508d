import type pg from 'pg'
import { AppError } from '../../core/errors.ts'

/** The cluster that a database is the coordinator of, as `distribute` needs it. */

/** The first version whose coordinator may have tables of its own beside reference tables, in every respect used here. */
const CITUS = 12

const ON_EACH_NODE =
  'on every node install Citus, set shared_preload_libraries to citus and run CREATE EXTENSION citus in the database of this name'

const refusal = (why: string, remedy: string): AppError => new AppError('conflict', `${why}: ${remedy}.`)

const read = async <Row extends object>(client: pg.Client, text: string): Promise<Row> =>
  (await client.query<Row>(text)).rows[0]!

/** Throws with the remedy unless this is the coordinator of a cluster with workers. */
export const checkCluster = async (client: pg.Client): Promise<void> => {
  const { version } = await read<{ version: string | null }>(
    client,
    `select max(extversion) as version from pg_extension where extname = 'citus'`,
  )
  if (version === null) throw refusal('This database does not have Citus', ON_EACH_NODE)
  if (Number.parseInt(version, 10) < CITUS)
    throw refusal(`Citus ${version} is too old`, `install Citus ${CITUS} or newer on every node`)
  const { coordinator, registered, workers, away } = await read<{
    coordinator: boolean
    registered: boolean
    workers: number
    away: string | null
  }>(
    client,
    `select (select groupid = 0 from pg_dist_local_group) as coordinator, bool_or(groupid = 0) is true as registered,
            count(*) filter (where groupid <> 0 and shouldhaveshards)::int as workers,
            string_agg(nodename || ':' || nodeport, ', ') filter (where not isactive) as away
       from pg_dist_node where noderole = 'primary'`,
  )
  if (!coordinator) throw refusal('This is a worker node', 'set DATABASE_URL to the coordinator')
  if (!registered)
    throw refusal(
      'The coordinator is not registered',
      "run SELECT citus_set_coordinator_host('HOST', PORT) with the address at which the workers reach it",
    )
  if (workers === 0)
    throw refusal(
      'The cluster has no worker nodes',
      "run SELECT citus_add_node('HOST', PORT) for each; distributing needs at least one",
    )
  if (away !== null)
    throw refusal(`Nodes are not active (${away})`, 'start them, or remove them with citus_remove_node')
}
