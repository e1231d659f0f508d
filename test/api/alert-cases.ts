/** Series with which an alert fires at a minute; the same without `fires` stays silent. Values as promtool reads them. */
export interface AlertCase {
  alert: string
  /** Series by name with labels. */
  series: Readonly<Record<string, string>>
  /** In minutes. */
  at: number
}

const A = 'instance="a:4000", job="ams"'
const buckets = (name: string, labels: string, fast: string, all: string) => ({
  [`${name}_bucket{${A}, ${labels}le="0.1"}`]: fast,
  [`${name}_bucket{${A}, ${labels}le="20"}`]: all,
  [`${name}_bucket{${A}, ${labels}le="+Inf"}`]: all,
})

/** One for each alert. */
export const FIRING: readonly AlertCase[] = [
  { alert: 'AmsSilent', series: {}, at: 5 },
  {
    alert: 'AmsProcessSilent',
    series: { [`ams_build_info{${A}}`]: '1x5 stale', [`up{${A}}`]: '1x5 0x60' },
    at: 15,
  },
  {
    alert: 'AmsRestarts',
    series: {
      [`ams_build_info{${A}}`]: '1x60',
      [`process_start_time_seconds{${A}}`]: '100 200 200 300 300 400 400 500 500x30',
    },
    at: 20,
  },
  { alert: 'AmsBackupOld', series: { [`ams_last_dump_timestamp_seconds{${A}}`]: '1x5000' }, at: 3_600 },
  {
    alert: 'AmsDatabaseAway',
    series: { [`ams_build_info{${A}}`]: '1x30', [`ams_database_up{${A}, database="main"}`]: '0x30' },
    at: 5,
  },
  {
    alert: 'AmsMailDeferred',
    series: {
      [`ams_smtp_answers_total{${A}, code="250"}`]: '0+60x60',
      [`ams_smtp_answers_total{${A}, code="451"}`]: '0+6x60',
    },
    at: 30,
  },
  { alert: 'AmsMailSlow', series: buckets('ams_smtp_data_duration_seconds', '', '0x60', '0+60x60'), at: 40 },
  {
    alert: 'AmsHttpErrors',
    series: {
      [`ams_http_requests_total{${A}, status="2xx"}`]: '0+1000x30',
      [`ams_http_requests_total{${A}, status="5xx"}`]: '0+20x30',
    },
    at: 25,
  },
  {
    alert: 'AmsHttpSlow',
    series: buckets('ams_http_request_duration_seconds', 'route="graphql", ', '0x60', '0+60x60'),
    at: 40,
  },
  {
    alert: 'AmsToolsFail',
    series: {
      [`ams_mcp_tool_calls_total{${A}, outcome="done"}`]: '0+100x60',
      [`ams_mcp_tool_calls_total{${A}, outcome="failed"}`]: '0+2x60',
    },
    at: 40,
  },
  {
    alert: 'AmsRequestsRefused',
    series: { [`ams_http_refusals_total{${A}, status="429"}`]: '0+900x60' },
    at: 40,
  },
  {
    alert: 'AmsWebhooksLate',
    series: { [`ams_oldest_due_job_seconds{${A}, kind="webhook"}`]: '90x30' },
    at: 10,
  },
  { alert: 'AmsSendsLate', series: { [`ams_oldest_due_job_seconds{${A}, kind="send"}`]: '400x30' }, at: 10 },
  { alert: 'AmsQueueLong', series: { [`ams_queue_depth{${A}, queue="send"}`]: '6000x30' }, at: 20 },
  { alert: 'AmsWebhooksFail', series: { [`ams_failing_webhooks{${A}, state="retrying"}`]: '30x60' }, at: 45 },
  {
    alert: 'AmsWebhooksGivenUp',
    series: { [`ams_webhook_deliveries_total{${A}, outcome="expired"}`]: '0x5 1x60' },
    at: 20,
  },
  {
    alert: 'AmsWebhookDelay',
    series: buckets('ams_webhook_delay_seconds', 'attempt="first", ', '0x60', '0+60x60'),
    at: 40,
  },
  {
    alert: 'AmsSendsFail',
    series: {
      [`ams_sends_total{${A}, outcome="sent"}`]: '0+10x120',
      [`ams_sends_total{${A}, outcome="failed"}`]: '0+5x120',
    },
    at: 90,
  },
  {
    alert: 'AmsBounces',
    series: {
      [`ams_sends_total{${A}, outcome="sent"}`]: '0+10x200',
      [`ams_sends_total{${A}, outcome="bounced"}`]: '0+1x200',
    },
    at: 150,
  },
  { alert: 'AmsSearchBehind', series: { [`ams_queue_depth{${A}, queue="search"}`]: '6000x60' }, at: 45 },
  {
    alert: 'AmsUnsearchable',
    series: { [`ams_unsearchable_messages{${A}, state="failed"}`]: '1x100' },
    at: 80,
  },
  { alert: 'AmsDeletionBehind', series: { [`ams_queue_depth{${A}, queue="deletion"}`]: '1x500' }, at: 400 },
  {
    alert: 'AmsDnsFails',
    series: {
      [`ams_dns_lookups_total{${A}, outcome="answered"}`]: '0+80x60',
      [`ams_dns_lookups_total{${A}, outcome="failed"}`]: '0+20x60',
    },
    at: 40,
  },
  {
    alert: 'AmsSpamChecksFail',
    series: {
      [`ams_spam_checks_total{${A}, outcome="done"}`]: '0+80x60',
      [`ams_spam_checks_total{${A}, outcome="failed"}`]: '0+20x60',
    },
    at: 40,
  },
  {
    alert: 'AmsObjectStoreFails',
    series: {
      [`ams_blob_requests_total{${A}, operation="get"}`]: '0+80x60',
      [`ams_blob_requests_total{${A}, operation="get_failed"}`]: '0+20x60',
    },
    at: 30,
  },
  {
    alert: 'AmsCallbacksFail',
    series: { [`ams_callbacks_total{${A}, outcome="failed"}`]: '0+1x60' },
    at: 40,
  },
  { alert: 'AmsDomainBroken', series: { [`ams_domains{${A}, state="broken"}`]: '1x100' }, at: 80 },
  {
    alert: 'AmsCertificateExpires',
    series: { [`ams_smtp_certificate_expiry_timestamp_seconds{${A}}`]: '864000x30' },
    at: 10,
  },
  {
    alert: 'AmsConnectionsExhausted',
    series: { [`ams_database_connections{${A}, state="waiting"}`]: '3x30' },
    at: 10,
  },
  {
    alert: 'AmsDatabaseGrows',
    series: { [`ams_database_size_bytes{${A}, database="main"}`]: '6000000000+5000000x2000' },
    at: 1_900,
  },
  { alert: 'AmsEventLoopBlocked', series: { [`nodejs_eventloop_lag_p99_seconds{${A}}`]: '0.8x30' }, at: 15 },
  {
    alert: 'AmsMemoryHigh',
    series: { [`ams_build_info{${A}}`]: '1x60', [`process_resident_memory_bytes{${A}}`]: '3000000000x60' },
    at: 30,
  },
  {
    alert: 'AmsMigrationPending',
    series: {
      [`ams_migrations{${A}, state="unknown"}`]: '0x10 1x60',
      [`ams_migrations{${A}, state="pending"}`]: '0x70',
      [`ams_migrations{${A}, state="running"}`]: '0x10 1x10 0x50',
    },
    at: 45,
  },
  {
    alert: 'AmsVersionsDiffer',
    series: {
      [`ams_build_info{${A}, version="1.0.0"}`]: '1x100',
      'ams_build_info{instance="b:4000", job="ams", version="1.1.0"}': '1x100',
    },
    at: 80,
  },
]

/** Of a service at which nothing is wrong. */
export const HEALTHY: Readonly<Record<string, string>> = {
  [`up{${A}}`]: '1x500',
  [`ams_build_info{${A}, version="1.1.0"}`]: '1x500',
  [`process_start_time_seconds{${A}}`]: '1x500',
  [`process_resident_memory_bytes{${A}}`]: '300000000x500',
  [`nodejs_eventloop_lag_p99_seconds{${A}}`]: '0.02x500',
  [`ams_database_up{${A}, database="main"}`]: '1x500',
  [`ams_database_size_bytes{${A}, database="main"}`]: '6000000000+1000x500',
  [`ams_database_connections{${A}, state="waiting"}`]: '0x500',
  [`ams_last_dump_timestamp_seconds{${A}}`]: '0x500',
  [`ams_smtp_answers_total{${A}, code="250"}`]: '0+60x500',
  [`ams_smtp_certificate_expiry_timestamp_seconds{${A}}`]: '8640000x500',
  [`ams_http_requests_total{${A}, status="2xx"}`]: '0+1000x500',
  [`ams_oldest_due_job_seconds{${A}, kind="webhook"}`]: '0x500',
  [`ams_oldest_due_job_seconds{${A}, kind="send"}`]: '0x500',
  [`ams_queue_depth{${A}, queue="send"}`]: '3x500',
  [`ams_sends_total{${A}, outcome="sent"}`]: '0+10x500',
  [`ams_failing_webhooks{${A}, state="retrying"}`]: '1x500',
  // In the middle of an upgrade.
  [`ams_migrations{${A}, state="unknown"}`]: '0x430 1x70',
  ...buckets('ams_webhook_delay_seconds', 'attempt="first", ', '0+60x500', '0+60x500'),
}
