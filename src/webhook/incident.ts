import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { quoted } from '../core/text/quoted.ts'
import type { Db } from '../db/client.ts'

/** Dependencies for notifying owners that a webhook has failed for so long that an event was given up. */
export interface IncidentDeps extends Db {
  clock: Clock
  log: Logger
  mailer: { deliver(to: readonly string[], mail: { subject: string; text: string }): Promise<boolean> }
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

/** Claims the incidents that the owners have not been notified of, so that no other process does so too. */
const claim = async ({ pool }: Db, now: Date): Promise<Incident[]> => {
  const { rows } = await pool.query<Incident>(
    `update webhook w set owner_told_at = $1 from agent a
      where a.id = w.agent_id and w.given_up_at is not null and w.failing_since is not null and w.owner_told_at is null
     returning w.id, w.workspace_id, w.agent_id, a.name as agent_name, w.url, w.failing_since, w.error`,
    [now],
  )
  return rows
}

/** Releases incidents whose mail could not be sent, to be retried. */
const release = ({ pool }: Db, incidents: readonly Incident[], now: Date) =>
  pool.query('update webhook set owner_told_at = null where id = any($1::uuid[]) and owner_told_at = $2', [
    incidents.map(({ id }) => id),
    now,
  ])

/** The URL's path and query are left out: they may contain the receiver's own secrets. */
const paragraphOf = ({ id, agent_id, agent_name, url, failing_since, error }: Incident): string =>
  `Agent: ${quoted(agent_name)}
Host: ${new URL(url).host}
Failing since: ${failing_since.toISOString().slice(0, 16).replace('T', ' ')} UTC
Last error: ${error === null ? 'none' : quoted(error, 300)}
Webhook: /agents/${agent_id}/webhooks/${id}
`

const mailOf = (incidents: readonly Incident[]): { subject: string; text: string } => {
  const [first] = incidents
  const whose =
    incidents.length === 1 ? `A webhook of ${quoted(first!.agent_name)}` : `${incidents.length} webhooks`
  return {
    subject: `${whose} failed for 3 days: events are being given up`,
    text: `${whose} accepted no event for so long that at least one was given up. Events that are not accepted within 3 days are no longer
delivered; newer events wait in order, with an attempt every 6 hours.

${incidents.map(paragraphOf).join('\n')}
What to do:
- Have the receiver answer each POST with a 2xx status within 5 seconds. POST .../test on the webhook sends a test to it.
- Once it works, the waiting events are delivered automatically. POST .../replay {"after": <event id>} sends the events of the last 7 days again.
- To remove a webhook that is no longer needed, use DELETE or answer 410.

You are notified once per failure, and again only if a webhook recovers and then fails for 3 days.
`,
  }
}

/** Notifies one workspace's owners of its incidents, in a single mail. */
const notify = async (
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
  const sent = to.length > 0 && (await deps.mailer.deliver(to, mailOf(incidents)))
  if (!sent) await release(deps, incidents, now)
  const fields = { workspaceId, webhooks: incidents.map(({ id }) => id) }
  if (sent) deps.log.info(fields, 'owners notified of failing webhooks')
  else deps.log.warn(fields, 'could not notify owners of failing webhooks; retrying later')
}

/**
 * Notifies the owners of workspaces, by mail, of webhooks for which an event was given up: once, until the
 * webhook accepts an event again. Failed notifications are retried with the next call. Any process may call
 * it at any time; never rejects.
 */
export const notifyOwners = async (deps: IncidentDeps): Promise<void> => {
  const now = deps.clock.now()
  try {
    const byWorkspace = new Map<string, Incident[]>()
    for (const one of await claim(deps, now))
      byWorkspace.set(one.workspace_id, [...(byWorkspace.get(one.workspace_id) ?? []), one])
    for (const [workspaceId, incidents] of byWorkspace) {
      await notify(deps, workspaceId, incidents, now).catch(async (error: unknown) => {
        deps.log.warn(
          { workspaceId, error: messageOf(error) },
          'could not notify owners of failing webhooks; retrying later',
        )
        await release(deps, incidents, now)
      })
    }
  } catch (error) {
    deps.log.warn({ error: messageOf(error) }, 'could not check for failing webhooks; retrying later')
  }
}
