import { createRemover } from './background/agent-removal.ts'
import { createAssembly } from './background/assembly.ts'
import { createJanitor } from './background/janitor.ts'
import { createWebhookRegistrations } from './background/webhook-registration.ts'
import { createWorkspaceRemover } from './background/workspace-removal.ts'
import { createFindRoute } from './cell/index.ts'
import type { Config } from './config/config.ts'
import { listening } from './config/unusable.ts'
import type { Listening } from './core/channel/inbound.ts'
import { createGraphql } from './graphql/index.ts'
import { type HttpServer, startHttp } from './http/server.ts'
import { createMcp } from './mcp/index.ts'
import { createFileIndexer, createIndexer, createPostmaster, DelayedEvents, Outbox } from './message/index.ts'
import { watchSmtpPorts } from './observability/smtp-ports.ts'
import type { Operations } from './operations.ts'
import { createRest, listenerOf } from './rest/index.ts'
import { Streams } from './stream/index.ts'
import { createOauth, createWeb } from './web/index.ts'
import { createLanes, createTerminationNotices, notifyOwners } from './webhook/index.ts'
import { OwnedParts } from './worker/index.ts'
import { createUsageCounter, ensureWritable } from './workspace/index.ts'

export interface Running {
  stop(graceMs: number): Promise<void> | void
}

/** Starts the HTTP server with the interfaces that it mounts. */
export const startInterfaces = async (
  config: Config,
  operations: Operations,
): Promise<{ server: HttpServer; interfaces: Running[] }> => {
  const { metrics, tracer, subscriptions, pool, log, clock, place, blobs } = operations
  const streams = new Streams(operations)
  const graphql = createGraphql({ ...operations, ...config.graphql })
  const mcp = createMcp(operations)
  const web = createWeb(operations)
  const oauth = createOauth(operations)
  const rest = listenerOf(createRest(operations).fetch)
  metrics.gauge('ams_streams', 'Open event streams', () => streams.size)
  metrics.gauge('ams_graphql_subscriptions', 'Open GraphQL subscriptions', () => graphql.size)
  metrics.gauge('ams_mcp_streams', 'Open MCP event streams', () => mcp.size)
  const opening = startHttp({
    ...{ host: config.host, port: config.port, api: config.roles.has('api') },
    ...{ log, metrics, tracer, clock, trustProxy: config.trustProxy },
    https: config.publicUrl?.startsWith('https:') === true,
    messageBase: new URL(operations.messageUrlBase()).pathname.replace(/\/$/, ''),
    callbacks: [
      ...Object.values(operations.channels).flatMap(
        (channel) => channel.routes?.(operations.sinkOf(channel.kind)) ?? [],
      ),
      ...(config.cellSecret === undefined
        ? []
        : [
            createFindRoute(
              { ...operations, workspaceOfStream: (hash) => graphql.workspaceOfStream(hash) },
              config.cellSecret,
            ),
          ]),
    ],
    interfaces: {
      rest: (request, response) => void rest(request, response),
      graphql: (request, response) => graphql.handle(request, response),
      mcp: (request, response) => mcp.handle(request, response),
      web: (request, response, path) => web.handle(request, response, path),
      oauth: (request, response, path) => oauth.handle(request, response, path),
      stream: (request, response, agentId, connectionId) =>
        streams.serve(request, response, agentId, connectionId),
      metrics: () => metrics.page(),
      ready: async () => {
        await Promise.all([ensureWritable({ pool }), blobs.ensureUsable()])
      },
    },
  })
  const server = await listening(['HOST', config.host], ['PORT', config.port], opening)
  // With PORT=0 the port is known only now.
  if (!config.publicUrl) place.publicUrl = `http://localhost:${server.port}`
  return { server, interfaces: [subscriptions, streams, graphql, mcp] }
}

/** Opens the ports of channels that have one (SMTP). */
export const startChannels = async (
  { smtp }: Config,
  { channels, sinkOf, metrics }: Operations,
): Promise<Listening[]> => {
  const opening = Object.values(channels).flatMap((channel) =>
    channel.listen ? [channel.listen(sinkOf(channel.kind))] : [],
  )
  const ports = await listening(['SMTP_HOST', smtp.host], ['SMTP_PORT', smtp.port], Promise.all(opening))
  watchSmtpPorts(metrics, ports)
  return ports
}

/** Creates the workers that update the callback URLs at providers when `PUBLIC_URL` has changed. */
const createRegistrations = ({ channels, phoneNumbers, clock, log, notifier }: Operations) => {
  const ofChannels = Object.values(channels).flatMap(({ followPublicUrl }) => followPublicUrl ?? [])
  const ofNumbers = (signal: AbortSignal) => phoneNumbers.followPublicUrl(signal)
  return createWebhookRegistrations([...ofChannels, ofNumbers], { clock, log, notifier })
}

export const startWorkers = (operations: Operations): Running[] => {
  const { session } = operations.notifier
  const parts = new OwnedParts()
  const led = (work: string) => ({ ...operations, isOurs: () => parts.leads(work) })
  const onGivenUp = () => void notifyOwners(operations)
  const lanes = createLanes({ ...operations, session, parts, onGivenUp })
  operations.metrics.gauge('ams_webhook_lanes', 'Webhooks that this process has leased', () => lanes.held)
  const workers = [
    lanes,
    createTerminationNotices(led('notices')),
    new DelayedEvents(operations),
    new Outbox(operations, parts),
    createPostmaster(led('postmaster')),
    createIndexer(led('search')),
    createFileIndexer(led('files')),
    createUsageCounter(led('usage')),
    operations.tlsResults,
    createRemover(operations),
    createWorkspaceRemover(operations),
    ...createJanitor(operations),
    ...createRegistrations(operations),
    ...createAssembly(led('assembly')),
  ]
  for (const worker of workers) worker.start()
  return workers
}
