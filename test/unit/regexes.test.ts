import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { NUMBER } from '../../src/mail/parse/html/values.ts'
import { ANY as ANY_MARKER, BEGINNINGS, RULES as MARKERS } from '../../src/mcp/outside-text/markers.ts'
import { type Found, regexesOf, slowTextFor } from '../support/regexes.ts'

/**
 * Regular expressions that are built at run time, by file: one resulting pattern for each call, or for each rule
 * of a list. Those of the demo do not process external text.
 */
const BUILT: Record<string, Omit<Found, 'file'>[]> = {
  'src/mail/header/loop.ts': [{ pattern: '(?:^|[@.<\\s])agents\\.localhost(?:$|[>\\s;])', flags: 'i' }],
  'src/mail/bounce/return-path.ts': [
    { pattern: '^bounce-([0-9a-f]{48})$', flags: '' },
    { pattern: '^(bounce-[0-9a-f]{32})[0-9a-f]+@', flags: 'i' },
  ],
  'src/mail/parse/html/values.ts': [
    { pattern: `^${NUMBER}(?:px)?$`, flags: '' },
    { pattern: `(${NUMBER})([a-z]+|%)(?![\\w(])`, flags: 'g' },
    { pattern: `^${NUMBER}%?$`, flags: '' },
    { pattern: `^(${NUMBER})(deg|rad|grad|turn)?$`, flags: '' },
  ],
  'src/config/parse.ts': [
    {
      pattern:
        '^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$',
      flags: 'i',
    },
  ],
  'src/doctor/settings.ts': [{ pattern: '\\bDATABASE_URL\\b', flags: '' }],
  'src/event/texts.ts': [{ pattern: '.{1,1000}', flags: 'g' }],
  'src/mcp/outside-text/markers.ts': [...MARKERS.map(({ pattern }) => pattern), BEGINNINGS, ANY_MARKER].map(
    ({ source, flags }) => ({ pattern: source, flags }),
  ),
  'src/workspace/member/member-link.ts': [
    {
      pattern:
        '^(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\.(\\d{1,12}))\\.([\\w-]{43})$',
      flags: '',
    },
  ],
  'src/core/channel/reply-code.ts': [
    {
      pattern: '^\\s*\\[?([ABCDEFGHJKMNPQRSTUVWXYZ23456789]{6})\\]?(?:[\\s:.,-]+([\\s\\S]*))?$',
      flags: 'i',
    },
    { pattern: '\\[([ABCDEFGHJKMNPQRSTUVWXYZ23456789]{6})\\]', flags: 'g' },
  ],
  'src/core/codes/lines.ts': [{ pattern: '.{1,1500}', flags: 'g' }],
  'src/core/http/encoding.ts': ['br', 'gzip'].map((name) => ({
    pattern: `\\b${name}\\b(?!;q=0(?![.\\d]))`,
    flags: '',
  })),
  'src/web/oauth/oauth.ts': [
    { pattern: '^/oauth/authorize(?:/[\\w-]{1,100})?$', flags: '' },
    ...['token', 'register', 'revoke', 'jwks'].map((name) => ({ pattern: `^/oauth/${name}$`, flags: '' })),
  ],
  'src/message/highlights/highlights.ts': [
    {
      pattern:
        '[\\u0e00-\\u0eff\\u4e00-\\u9fff]\\p{M}*|[[\\p{L}\\p{M}\\p{N}\\xad]--[\\u0e00-\\u0eff\\u4e00-\\u9fff]]+',
      flags: 'gv',
    },
  ],
  'src/message/reading/words.ts': [
    { pattern: '[\\u0e00-\\u0eff\\u4e00-\\u9fff]', flags: 'gu' },
    { pattern: '^[\\u0e00-\\u0eff\\u4e00-\\u9fff]$', flags: 'u' },
    {
      pattern:
        '[\\u0e00-\\u0eff\\u4e00-\\u9fff]|[[\\p{L}\\p{Mn}\\p{Mc}\\p{Nd}\\p{Nl}]--[\\u0e00-\\u0eff\\u4e00-\\u9fff]]+',
      flags: 'gv',
    },
    { pattern: '[^\\p{L}\\p{M}\\p{N}\\xad]|[[\\u0e00-\\u0eff\\u4e00-\\u9fff]--\\p{M}]', flags: 'gv' },
  ],
}

/** Calls that build the patterns of a list. */
const CALLS: Record<string, number> = { 'src/core/http/encoding.ts': 1, 'src/mcp/outside-text/markers.ts': 6 }

const title = ({ file, pattern, flags }: Found) => `${file}: /${pattern}/${flags}`

describe('no regular expression in the sources takes more than linear time', () => {
  const { found, built } = regexesOf()

  test('among the literals', () => {
    expect(found.length).toBeGreaterThan(250)
    const unique = [...new Map(found.map((one) => [title(one), one])).values()]
    expect(unique.filter((one) => slowTextFor(one) !== null).map(title)).toEqual([])
  })

  test('among those built at run time, all of which are listed in this test', () => {
    const calls = built.filter(({ file }) => !file.startsWith('src/demo/'))
    const counted = Object.fromEntries(
      calls.map(({ file }) => [file, calls.filter((one) => one.file === file).length]),
    )
    expect(counted).toEqual(
      Object.fromEntries(Object.entries(BUILT).map(([file, all]) => [file, CALLS[file] ?? all.length])),
    )
    const slow = Object.values(BUILT)
      .flat()
      .filter((one) => slowTextFor(one) !== null)
    expect(slow).toEqual([])
  })
})

describe('the search for slow patterns', () => {
  test('finds the patterns in a file, and nothing that only looks like one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'regexes-'))
    const file = join(folder, 'planted.ts')
    writeFileSync(
      file,
      "const ratio = 4 / 2 / 1\n// /no/\nexport const bad: RegExp = /(a+)+$/i\nconst built = RegExp('x' + 1)\n",
    )
    expect(regexesOf([file])).toMatchObject({
      found: [{ pattern: '(a+)+$', flags: 'i' }],
      built: [{ call: "RegExp('x' + 1)" }],
    })
    rmSync(folder, { recursive: true })
  })

  test.each([
    ['(a+)+$', ''],
    ['\\s+$', ''],
    ['\\r*\\n', 'g'],
    ['\\0+$', ''],
    ['^-+|-+$', 'g'],
    ['(?:a|a)*b', ''],
    ['^(\\w+\\s?)*$', ''],
    ['\\d+\\d+x', ''],
    ['a.*b.*c', 's'],
    ['[;:\\s]+b=', ''],
    ['/\\*.*?\\*/', 'g'],
    ['<[^<>\\s]+@[^<>\\s]+>', ''],
    ['\\b[^@\\s]+@[^\\s]+\\b', ''],
    ['^https?://[^/?#]+(/[^#]*)?(\\?[^#]*)?$', 'i'],
    ['\\p{L}+\\p{L}+$', 'u'],
  ])('reports /%s/%s', (pattern, flags) => expect(slowTextFor({ pattern, flags })).not.toBeNull())

  test.each([
    ['^\\s+', ''],
    ['(?<!-)-+$', 'g'],
    ['[^\\s<>]{1,64}@[a-z]{1,63}', 'g'],
    ['[^\\s<>]{1,150}@[a-z]{1,63}', 'g'], // slow enough to be measured with a longer text too
    ['<([^<>]{1,2000})>', 'g'],
    ['^[a-z]+(?:\\.[a-z]+)*$', ''],
  ])('does not report /%s/%s', (pattern, flags) => expect(slowTextFor({ pattern, flags })).toBeNull())
})
