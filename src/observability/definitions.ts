import { WAYS_IN } from '../core/channels.ts'
import { ROUTE_CLASSES } from '../core/http/http.ts'
import type { Counted, Timed } from '../core/metrics.ts'

export interface Counting {
  /** Name and label in Prometheus. */
  name: string
  label: string
  help: string
  /**
   * Values of the label that are known in advance. They start at 0, so that the first occurrence is visible
   * as an increase.
   */
  values: readonly string[]
}

/** Statuses of 4xx responses that have their own label value; the others share one. */
const REFUSAL_STATUSES = ['400', '401', '402', '403', '404', '409', '413', '415', '429', 'other']

/** The counters. Labels are few and fixed: never an address or an id. */
export const COUNTERS: Record<Counted, Counting> = {
  replicaReads: {
    name: 'ams_replica_reads_total',
    label: 'outcome',
    help: 'Lists and searches of messages that DATABASE_READ_URL is for: read from the replica, or from the primary because the replica was behind or down, or failed to finish the read',
    values: ['replica', 'behind', 'down', 'failed'],
  },
  forwards: {
    name: 'ams_front_requests_total',
    label: 'outcome',
    help: 'Requests that a front passed on: answered by the installation, unreached (nothing was sent), or lost (no answer came)',
    values: ['answered', 'unreached', 'lost'],
  },
  deliveries: {
    name: 'ams_webhook_deliveries_total',
    label: 'outcome',
    help: 'Attempts to deliver to webhooks by outcome (delivered, failed, too_large, gone), and events that were given up (expired)',
    values: ['delivered', 'failed', 'too_large', 'gone', 'expired'],
  },
  answers: {
    name: 'ams_smtp_answers_total',
    label: 'code',
    help: 'SMTP replies to messages (250 or an error code) and to unknown recipients',
    values: ['250', '550'],
  },
  events: {
    name: 'ams_events_total',
    label: 'channel',
    help: "Events appended to agents' logs",
    values: Object.keys(WAYS_IN),
  },
  mails: {
    name: 'ams_mails_total',
    label: 'verdict',
    help: 'Incoming messages: received, the reason of the refusal, deferred (the sender is asked to try again), or dropped (not stored)',
    values: [
      'received',
      'deferred',
      'dropped',
      'self',
      'spam',
      'plan_limit',
      'rate_limit',
      'sender',
      'outsider',
      'unverified',
    ],
  },
  sends: {
    name: 'ams_sends_total',
    label: 'outcome',
    help: 'Attempts to send messages (sent, retried, failed), and reports about sent messages (bounced, reported)',
    values: ['sent', 'retried', 'failed', 'bounced', 'reported'],
  },
  spamChecks: {
    name: 'ams_spam_checks_total',
    label: 'outcome',
    help: 'Messages checked by Rspamd: spam, ham, failed (let through)',
    values: ['spam', 'ham', 'failed'],
  },
  readerThreads: {
    name: 'ams_reader_threads_total',
    label: 'outcome',
    help: 'Mail reader threads that were replaced because a message exceeded its time or memory',
    values: ['replaced'],
  },
  callbacks: {
    name: 'ams_callbacks_total',
    label: 'outcome',
    help: 'Calls from providers: taken (accepted), refused (not proven, malformed), failed',
    values: ['taken', 'refused', 'failed'],
  },
  toolCalls: {
    name: 'ams_mcp_tool_calls_total',
    label: 'outcome',
    help: 'MCP tool calls: done, refused (the caller is told what to do), failed',
    values: ['done', 'refused', 'failed'],
  },
  requests: {
    name: 'ams_http_requests_total',
    label: 'status',
    help: 'HTTP requests by status class; aborted: the client left before the response',
    values: ['2xx', '3xx', '4xx', '5xx', 'aborted'],
  },
  refusals: {
    name: 'ams_http_refusals_total',
    label: 'status',
    help: 'HTTP requests that were refused with a 4xx status',
    values: REFUSAL_STATUSES,
  },
  blobRequests: {
    name: 'ams_blob_requests_total',
    label: 'operation',
    help: 'Requests to the object store of BLOB_URL by operation (put, get, delete), and those that failed',
    values: ['put', 'get', 'delete', 'put_failed', 'get_failed', 'delete_failed'],
  },
  dnsLookups: {
    name: 'ams_dns_lookups_total',
    label: 'outcome',
    help: 'Lookups for mail checks and domains, cached ones included: found, absent (no such record), failed (the name servers did not answer)',
    values: ['found', 'absent', 'failed'],
  },
}

export interface Timing extends Counting {
  /** Upper bounds of the buckets in seconds. */
  buckets: readonly number[]
}

const FAST = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The histograms. */
export const HISTOGRAMS: Record<Timed, Timing> = {
  requests: {
    name: 'ams_http_request_duration_seconds',
    label: 'route',
    help: 'Duration of HTTP requests by class of route; event streams are left out',
    values: ROUTE_CLASSES,
    buckets: FAST,
  },
  mails: {
    name: 'ams_smtp_data_duration_seconds',
    label: 'outcome',
    help: 'Time from the end of the data of a message to its SMTP reply: stored or not',
    values: ['stored', 'not_stored'],
    buckets: FAST,
  },
  toolCalls: {
    name: 'ams_mcp_tool_call_duration_seconds',
    label: 'tool',
    help: 'Duration of MCP tool calls',
    values: [], // the tools, which the MCP folder knows
    buckets: FAST,
  },
  deliveries: {
    name: 'ams_webhook_delay_seconds',
    label: 'attempt',
    help: 'Time from an event to its acceptance by a webhook, on the first attempt or a later one',
    values: ['first', 'later'],
    buckets: [...FAST, 60, 300, 1800, 7200],
  },
  blobRequests: {
    name: 'ams_blob_request_duration_seconds',
    label: 'operation',
    help: 'Duration of requests to the object store that succeeded',
    values: ['put', 'get', 'delete'],
    buckets: FAST,
  },
}
