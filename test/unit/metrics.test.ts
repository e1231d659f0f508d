import { afterEach, expect, test, vi } from 'vitest'
import { ServiceMetrics } from '../../src/observability/metrics.ts'

afterEach(() => vi.useRealTimers())

test('metrics that cannot be read in time are left out, and the others are returned', async () => {
  const metrics = new ServiceMetrics()
  metrics.gauges('ams_hanging', 'h', 'kind', () => new Promise(() => undefined))
  metrics.gauges('ams_failing', 'f', 'kind', () => Promise.reject(new Error('the database is away')))
  metrics.gauge('ams_sound', 's', () => 7)
  metrics.count('mails', 'spam')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const page = metrics.page()
  await vi.advanceTimersByTimeAsync(1000)
  const { text } = await page
  expect(text).toContain('ams_sound 7')
  expect(text).toContain('ams_mails_total{verdict="spam"} 1')
  expect(text).not.toMatch(/^ams_(hanging|failing)\{/m)
})

test('two instances in one process count separately', async () => {
  const [one, other] = [new ServiceMetrics(), new ServiceMetrics()]
  one.count('events', 'email')
  expect((await one.page()).text).toContain('ams_events_total{channel="email"} 1')
  expect((await other.page()).text).toContain('ams_events_total{channel="email"} 0')
})
