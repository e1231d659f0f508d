/**
 * The service's counters, each by outcome and never by anything that names a person, an address or an id:
 * `deliveries` to webhooks, `events` appended by channel, inbound `mails` by verdict, `sends` of messages,
 * HTTP `requests` by status class, `callbacks` of providers, SMTP `answers` to messages and to unknown
 * recipients, `spamChecks`, `dnsLookups` and MCP `toolCalls` by result, replaced `readerThreads`, and
 * `refusals` of HTTP requests by status, `blobRequests` to the object store by operation, and `replicaReads` by
 * where they were read. `forwards` of a front are requests that it passed on, by what came of them.
 */
export type Counted =
  | 'deliveries'
  | 'events'
  | 'mails'
  | 'sends'
  | 'requests'
  | 'callbacks'
  | 'answers'
  | 'spamChecks'
  | 'toolCalls'
  | 'readerThreads'
  | 'dnsLookups'
  | 'refusals'
  | 'blobRequests'
  | 'replicaReads'
  | 'forwards'
  | 'forwards'

/**
 * What is timed: HTTP `requests` by route class, `mails` from the end of their data to the reply, MCP
 * `toolCalls` by tool, webhook `deliveries` from the event to the receiver's acceptance, and `blobRequests` that
 * succeeded by operation.
 */
export type Timed = 'requests' | 'mails' | 'toolCalls' | 'deliveries' | 'blobRequests'

export interface Metrics {
  count(what: Counted, outcome: string): void
  observe(what: Timed, label: string, seconds: number): void
}
