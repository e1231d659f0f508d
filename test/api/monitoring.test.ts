import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService } from '../support/service.ts'
import { FIRING, HEALTHY } from './alert-cases.ts'

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
  writeFileSync(file, alertTests())
  expect(execFileSync(PROMTOOL, ['test', 'rules', file]).toString()).toContain('SUCCESS')
})

/** Names of Node's default metrics are prom-client's; promtool finds fault with two of them. */
const ourPage = (): string =>
  page
    .split('\n')
    .filter((line) => /^(?:# (?:HELP|TYPE) )?ams_/.test(line))
    .join('\n')
    .concat('\n')

/** A group of promtool: the series, and for each alert at a minute how many fire. */
const groupOf = (series: Readonly<Record<string, string>>, firing: readonly [string, number, boolean][]) => ({
  interval: '1m',
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  promql_expr_test: firing.map(([alert, minute, fires]) => ({
    expr: `count(ALERTS{alertname="${alert}", alertstate="firing"})`,
    eval_time: `${minute}m`,
    exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
  })),
})

/** promtool reads YAML, of which JSON is a part. */
const alertTests = (): string =>
  JSON.stringify({
    rule_files: [rulesFile],
    evaluation_interval: '1m',
    tests: [
      ...FIRING.map(({ alert, series, at }) => groupOf(series, [[alert, at, true]])),
      groupOf(
        HEALTHY,
        FIRING.map(({ alert }) => [alert, 450, false] as [string, number, boolean]),
      ),
    ],
  })

test('every alert has a case that fires it, and a section in the runbook', () => {
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!)
  expect(FIRING.map(({ alert }) => alert).sort()).toEqual([...alerts].sort())
  const runbook = readFileSync(join(folder, '..', '..', 'docs', 'runbook.md'), 'utf8')
  expect([...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name!).sort()).toEqual([...alerts].sort())
})
