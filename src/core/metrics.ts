/**
 * The service's counters, each by outcome and never by anything that names a person, an address or an id:
 * `deliveries` to webhooks, `events` appended by channel, inbound `mails` by verdict, `sends` of messages,
 * HTTP `requests` by status class, `callbacks` of providers, SMTP `answers` to messages and to unknown
 * recipients, `spamChecks` and MCP `toolCalls` by result, and replaced `readerThreads`.
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

export interface Metrics {
  count(what: Counted, outcome: string): void
}
