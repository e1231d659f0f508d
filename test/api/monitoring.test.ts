import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService } from '../support/service.ts'

/** Debian's package `prometheus` has it. */
const PROMTOOL = '/usr/bin/promtool'
const folder = join(import.meta.dirname, '..', '..', 'src', 'observability')
const rulesFile = join(folder, 'prometheus', 'alerts.yml')
const rules = readFileSync(rulesFile, 'utf8')
const dashboard = JSON.parse(readFileSync(join(folder, 'grafana', 'dashboard.json'), 'utf8')) as {
  panels: { type: string; title: string; targets?: { expr: string }[] }[]
}

let page: string
let dir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ams-monitoring-'))
  const pair = await generate([{ name: 'commonName', value: 'mx.example.org' }], { keyType: 'ec' })
  const environment = { SMTP_TLS_CERT: join(dir, 'crt'), SMTP_TLS_KEY: join(dir, 'key') }
  writeFileSync(environment.SMTP_TLS_CERT, pair.cert)
  writeFileSync(environment.SMTP_TLS_KEY, pair.private)
  const service = await startService({ environment })
  page = await (await fetch(`${service.http}/metrics`)).text()
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const metricsIn = (expression: string): string[] =>
  expression.match(/\b(?:ams|nodejs|process)_[a-z0-9_]+\b/g) ?? []

/** Names of series on the page; a histogram without any observation yet has only its description. */
const offered = (): Set<string> => {
  const described = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  return new Set(
    described.flatMap(([, name, type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name!],
    ),
  )
}

test('every metric that an alert or a panel names is on /metrics, and the other way round', () => {
  const expressions = rules.match(/expr: (?:\|\n.*|.*)/g) ?? []
  const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  expect(expressions.length).toBe(rules.match(/- alert:/g)!.length)
  const names = offered()
  for (const name of [...expressions, ...shown].flatMap(metricsIn)) expect([...names]).toContain(name)
  const used = new Set([...expressions, ...shown].flatMap(metricsIn))
  const ours = [...names].filter((name) => name.startsWith('ams_') && !/_(?:sum|count)$/.test(name))
  expect(ours.filter((name) => !used.has(name))).toEqual([])
})

test('every label value that an alert compares exists', () => {
  for (const [, name, selector] of rules.matchAll(/\b(ams_\w+)\{(\w+=~?"[^"]+")\}/g)) {
    const [, label, operator, value] = /^(\w+)(=~?)"([^"]+)"$/.exec(selector!)!
    const pattern = new RegExp(`^${operator === '=' ? value!.replace(/\W/g, '\\$&') : value}$`)
    const values = [...page.matchAll(new RegExp(`^${name}\\{[^}]*\\b${label}="([^"]+)"`, 'gm'))].map(
      ([, one]) => one!,
    )
    // Replies to mail that is not there yet appear with the first one.
    if (name === 'ams_smtp_answers_total') values.push('451')
    expect({ name, selector, found: values.some((one) => pattern.test(one)) }).toEqual({
      name,
      selector,
      found: true,
    })
  }
})

test('the dashboard shows something in every panel', () => {
  const panels = dashboard.panels.filter(({ type }) => type !== 'row')
  expect(panels.length).toBeGreaterThan(25)
  for (const { title, targets = [] } of panels) expect([title, targets.length > 0]).toEqual([title, true])
})

test('Prometheus’ own tool accepts the rules and the page, and the alerts fire when they should', ({
  skip,
}) => {
  if (!existsSync(PROMTOOL)) skip('promtool is not installed (Debian: apt-get install prometheus)')
  expect(execFileSync(PROMTOOL, ['check', 'rules', rulesFile]).toString()).toContain('SUCCESS')
  expect(execFileSync(PROMTOOL, ['check', 'metrics'], { input: ourPage() }).toString()).toBe('')
  const file = join(dir, 'alerts.test.yml')
  writeFileSync(file, ALERT_TESTS)
  expect(execFileSync(PROMTOOL, ['test', 'rules', file]).toString()).toContain('SUCCESS')
})

/** Names of Node's default metrics are prom-client's; promtool finds fault with two of them. */
const ourPage = (): string =>
  page
    .split('\n')
    .filter((line) => /^(?:# (?:HELP|TYPE) )?ams_/.test(line))
    .join('\n')
    .concat('\n')

const ALERT_TESTS = `
rule_files: [${JSON.stringify(rulesFile)}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'ams_build_info{instance="a", version="1.0.0"}'
        values: '1x30'
      - series: 'ams_build_info{instance="b", version="1.0.0"}'
        values: '1x30'
      - series: 'ams_database_up{instance="a", database="main"}'
        values: '1x30'
      - series: 'ams_database_up{instance="b", database="main"}'
        values: '0x30'
      - series: 'ams_oldest_due_job_seconds{instance="a", kind="webhook"}'
        values: '0x10 90x20'
      - series: 'ams_smtp_answers_total{instance="a", code="250"}'
        values: '0+60x30'
      - series: 'ams_smtp_answers_total{instance="a", code="451"}'
        values: '0+6x30'
      - series: 'ams_smtp_certificate_expiry_timestamp_seconds{instance="a"}'
        values: '864000x30'
      - series: 'ams_http_requests_total{instance="a", status="2xx"}'
        values: '0+1000x30'
      - series: 'ams_http_requests_total{instance="a", status="5xx"}'
        values: '0+1x30'
    alert_rule_test:
      - { eval_time: 25m, alertname: AmsDatabaseAway, exp_alerts: [{ exp_labels: { severity: critical, instance: b, version: 1.0.0 }, exp_annotations: { summary: 'b gets no answer from the database: requests get 503, mail 451.' } }] }
      - { eval_time: 5m, alertname: AmsWebhooksLate, exp_alerts: [] }
      - { eval_time: 25m, alertname: AmsWebhooksLate, exp_alerts: [{ exp_labels: { severity: critical }, exp_annotations: { summary: 'A webhook delivery has been due for more than a minute: no worker runs, or there are too few.' } }] }
      - { eval_time: 25m, alertname: AmsMailDeferred, exp_alerts: [{ exp_labels: { severity: critical }, exp_annotations: { summary: 'More than 5% of incoming mail is deferred (4xx): senders try again, but nothing arrives.' } }] }
      - { eval_time: 25m, alertname: AmsCertificateExpires, exp_alerts: [{ exp_labels: { severity: warning }, exp_annotations: { summary: 'The certificate of SMTP_TLS_CERT expires in 9d 23h 35m 0s.' } }] }
      - { eval_time: 25m, alertname: AmsHttpErrors, exp_alerts: [] }
`
