import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Db } from '../db/client.ts'

/** What is needed to tell people that a webhook has failed for so long that an event was given up. */
export interface IncidentDeps extends Db {
  clock: Clock
  log: Logger
  mailer: { deliver(to: readonly string[], letter: { subject: string; text: string }): Promise<boolean> }
}

interface Incident {
  id: string
  workspace_id: string
  agent_id: string
  agent_name: string
  url: string
  failing_since: Date
  error: string | null
}

/** Takes the incidents that nobody was told of, so that no other process tells of them too. */
const claim = async ({ pool }: Db, now: Date): Promise<Incident[]> => {
  const { rows } = await pool.query<Incident>(
    `update webhook w set owner_told_at = $1 from agent a
      where a.id = w.agent_id and w.given_up_at is not null and w.failing_since is not null and w.owner_told_at is null
     returning w.id, w.workspace_id, w.agent_id, a.name as agent_name, w.url, w.failing_since, w.error`,
    [now],
  )
  return rows
}

/** It is to be told of again: a letter did not go out. */
const unclaim = ({ pool }: Db, incidents: readonly Incident[], now: Date) =>
  pool.query('update webhook set owner_told_at = null where id = any($1::uuid[]) and owner_told_at = $2', [
    incidents.map(({ id }) => id),
    now,
  ])

/** One line, whatever somebody called it. */
const inLine = (name: string): string => name.replace(/\s+/g, ' ')

/** The URL's path and query stay out: they may hold the receiver's own secrets. */
const paragraphOf = ({ id, agent_id, agent_name, url, failing_since, error }: Incident): string =>
  `Agent: ${inLine(agent_name)}
Host: ${new URL(url).host}
Failing since: ${failing_since.toISOString().slice(0, 16).replace('T', ' ')} UTC
Last error: ${error ?? 'none'}
Webhook: /agents/${agent_id}/webhooks/${id}
`

const letterOf = (incidents: readonly Incident[]): { subject: string; text: string } => {
  const [first] = incidents
  const whose =
    incidents.length === 1 ? `A webhook of ${inLine(first!.agent_name)}` : `${incidents.length} webhooks`
  return {
    subject: `${whose} failed for 3 days: events are being given up`,
    text: `${whose} took no event for so long that one was given up. Events that are not taken within 3 days of their arrival are lost to it; newer
ones wait in order and are tried every 6 hours.

${incidents.map(paragraphOf).join('\n')}
What to do:
- Have the receiver answer each POST with a 2xx status within 5 seconds. POST .../test on the webhook sends a test to it.
- Once it works, what waits is delivered by itself. POST .../replay {"after": <event id>} sends the events of the last 7 days again.
- To remove a webhook that is no longer needed, use DELETE or answer 410.

You are told once; when it has worked again and fails another time, you are told again.
`,
  }
}

/** Tells one workspace's owners of its incidents, in one letter. */
const tell = async (
  deps: IncidentDeps,
  workspaceId: string,
  incidents: readonly Incident[],
  now: Date,
): Promise<void> => {
  const owners = await deps.prisma.member.findMany({
    where: { workspaceId, role: 'owner' },
    select: { email: true },
  })
  const to = owners.map(({ email }) => email)
  const told = to.length > 0 && (await deps.mailer.deliver(to, letterOf(incidents)))
  if (!told) await unclaim(deps, incidents, now)
  const fields = { workspaceId, webhooks: incidents.map(({ id }) => id) }
  if (told) deps.log.info(fields, 'the owners were told of failing webhooks')
  else deps.log.warn(fields, 'could not notify the owners of failing webhooks; will try again later')
}

/**
 * Tells the owners of workspaces, by mail, of webhooks that an event was given up for: once, until the
 * webhook takes an event again. What could not be sent is tried with the next call. Any process may call it
 * at any time; never rejects.
 */
export const notifyOwners = async (deps: IncidentDeps): Promise<void> => {
  const now = deps.clock.now()
  try {
    const byWorkspace = new Map<string, Incident[]>()
    for (const one of await claim(deps, now))
      byWorkspace.set(one.workspace_id, [...(byWorkspace.get(one.workspace_id) ?? []), one])
    for (const [workspaceId, incidents] of byWorkspace) {
      await tell(deps, workspaceId, incidents, now).catch(async (error: unknown) => {
        deps.log.warn(
          { workspaceId, error: messageOf(error) },
          'could not notify the owners of failing webhooks; will try again later',
        )
        await unclaim(deps, incidents, now)
      })
    }
  } catch (error) {
    deps.log.warn({ error: messageOf(error) }, 'could not notify owners of failing webhooks')
  }
}
