import { expect, test } from 'vitest'
import { createLogger } from '../../src/observability/log.ts'

function capture(level: string) {
  const lines: string[] = []
  const log = createLogger(level, { write: (line: string) => lines.push(line) })
  return { log, lines }
}

test('a line is JSON with its time, its level as a word, its fields and its message', () => {
  const { log, lines } = capture('info')
  log.child({ request: 'r1' }).info({ ms: 3 }, 'done')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'info',
    request: 'r1',
    ms: 3,
    msg: 'done',
    time: expect.stringMatching(/^\d{4}-.*Z$/),
  })
})

test('messages below the level are not written', () => {
  const { log, lines } = capture('warn')
  log.info({}, 'no')
  log.error({}, 'yes')
  expect(lines).toHaveLength(1)
})

test.each(['authorization', 'token', 'secret', 'password', 'text'])(
  'a field named %s is never written, at any depth',
  (key) => {
    const { log, lines } = capture('debug')
    log.debug(
      {
        [key]: 's3cr3t',
        headers: { [key]: 's3cr3t' },
        request: { headers: { [key]: 's3cr3t', [key.toUpperCase()]: 's3cr3t', Authorization: 's3cr3t' } },
      },
      'asked',
    )
    log.debug(
      { err: Object.assign(new Error('no'), { [key]: 's3cr3t' }), all: [{ [key]: 's3cr3t' }] },
      'failed',
    )
    log.child({ [key]: 's3cr3t' }).debug({}, 'asked')
    expect(lines.join()).not.toContain('s3cr3t')
  },
)

test('the cause of an error is logged', () => {
  const { log, lines } = capture('info')
  log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed')
  expect(lines[0]).toContain('inner')
})
