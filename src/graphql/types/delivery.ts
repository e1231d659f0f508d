import { writeCursor } from '../../core/cursor.ts'
import type { Db } from '../../db/client.ts'
import type { Job } from '../../db/generated/prisma/client.ts'
import { type Delivery as DeliveryShape, merge, type Place, readPlace, toDelivery } from '../../webhook/deliveries.ts'
import { batched } from '../batch.ts'
import { builder } from '../builder.ts'
import { saidOfAfter } from '../input.ts'
import { countRows } from '../limits.ts'
import { DeliveryStatus } from './enums.ts'
import { pageInfoOf, pathOf } from './message-list.ts'
import { checkFirst, pageCost } from './message-page.ts'
import { Webhook } from './webhook.ts'

const Attempt = builder.objectRef<DeliveryShape['attempts'][number]>('DeliveryAttempt').implement({
  description: 'One request to a webhook.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'When it began.', resolve: ({ at }) => new Date(at) }),
    status: t.exposeInt('status', { nullable: true, description: 'The HTTP status of the answer; null when there was none.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why there was no answer, or none that counts.' }),
    ms: t.exposeInt('ms', { description: 'How long it took, in milliseconds.' }),
  }),
})

export const Delivery = builder.objectRef<DeliveryShape>('Delivery').implement({
  description: 'An event on its way to a webhook; the record is kept for 7 days.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    eventId: t.exposeString('eventId', { description: "The event's name, as `webhook-id` and `eventId` carry it." }),
    status: t.expose('status', { type: DeliveryStatus, description: 'How far it has come.' }),
    attempts: t.field({ type: [Attempt], description: 'Every request, the first one first.', resolve: ({ attempts }) => attempts }),
  }),
})

const DeliveryConnection = builder.connectionObject(
  { type: Delivery, name: 'DeliveryConnection', description: 'A page of deliveries, newest first.' },
  { name: 'DeliveryEdge', description: 'A delivery and its place in the list.' },
)

type Row = Pick<Job, 'id' | 'agentId' | 'seq' | 'eventId' | 'state' | 'log' | 'createdAt'>
type ReadRow = Omit<Row, 'seq' | 'eventId'> & { ord: number; seq: number; eventId: number | null }

const COLUMNS = `id, agent_id as "agentId", seq, event_id as "eventId", state, log, created_at as "createdAt"`

/** The newest deliveries of each of these webhooks: one page and one more, in one statement however many webhooks they are. */
const readDeliveries = async ({ pool }: Db, webhookIds: readonly string[], { before, above }: Place, most: number): Promise<Row[][]> => {
  const { rows } = await pool.query<ReadRow>({
    name: 'delivery pages',
    text: `select w.ord::int, j.* from unnest($1::uuid[]) with ordinality as w(id, ord) cross join lateral (
             (select ${COLUMNS} from job where lane = w.id and seq > 0 and ($2::bigint is null or seq < $2) order by seq desc limit $4)
             union all
             (select ${COLUMNS} from job where lane = w.id and seq < 0 and ($3::bigint is null or seq > $3) order by seq limit $4)
           ) j`,
    values: [webhookIds, before, above, most],
  })
  const jobs = rows.map((row) => ({ ...row, seq: BigInt(row.seq), eventId: row.eventId === null ? null : BigInt(row.eventId) }))
  return webhookIds.map((_id, index) => {
    const own = jobs.filter(({ ord }) => ord === index + 1)
    return merge<Row>(
      own.filter(({ seq }) => seq > 0n),
      own.filter(({ seq }) => seq < 0n),
    )
  })
}

/** Each job with the cursor of the place behind it. */
const edgesOf = (jobs: readonly Row[], start: Place) => {
  let place = start
  return jobs.map((job) => {
    place = job.seq > 0n ? { ...place, before: job.seq } : { ...place, above: job.seq }
    return { cursor: writeCursor(Number(place.before ?? 0n), Number(place.above ?? 0n)), node: toDelivery(job) }
  })
}

const placeOf = (after: string | null | undefined): Place => {
  try {
    return readPlace(after)
  } catch (error) {
    return saidOfAfter(error)
  }
}

builder.prismaObjectField(Webhook, 'deliveries', (t) =>
  t.field({
    type: DeliveryConnection,
    description: 'What was, is and was asked to be delivered to it, newest first; kept for 7 days.',
    complexity: ({ first }) => pageCost(first),
    args: {
      first: t.arg.int({ description: 'How many: 1 to 100, otherwise 20.' }),
      after: t.arg.string({ description: "A delivery's cursor: the page begins behind it." }),
    },
    resolve: async ({ id }, args, context, info) => {
      const first = checkFirst(args.first)
      countRows(context, first)
      const place = placeOf(args.after)
      const name = [pathOf(info), first, args.after ?? ''].join(' ')
      const jobs = await batched(context, name, id, (ids: readonly string[]) => readDeliveries(context.deps, ids, place, first + 1))
      const edges = edgesOf(jobs.slice(0, first), place)
      return { edges, pageInfo: pageInfoOf(edges, jobs.length > first, args.after ? { first, after: args.after } : { first }) }
    },
  }),
)
