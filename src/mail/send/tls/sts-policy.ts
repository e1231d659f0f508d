/** The policy of a domain for mail sent to it: MTA-STS (RFC 8461 3.2). */
export interface StsPolicy {
  /** `none`: the domain has withdrawn its policy. */
  mode: 'enforce' | 'testing' | 'none'
  /** Names of its mail servers; `*.` at the start matches one label. */
  mx: readonly string[]
  /** How long it is valid, in seconds. */
  maxAge: number
}

/** RFC 8461 3.2: about a year. */
const MAX_AGE = 31_557_600
const MAX_MX = 100
const MX = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const MODES = ['enforce', 'testing', 'none'] as const

/** Reads the lines `key: value` of a policy. Of several lines with the same key, all but `mx` count once. */
const fieldsOf = (text: string): Map<string, string[]> => {
  const fields = new Map<string, string[]>()
  for (const line of text.split(/\r?\n/)) {
    const [, key, value = ''] = /^([a-z0-9_-]{1,32}):(.*)$/i.exec(line) ?? []
    if (key !== undefined) fields.set(key, [...(fields.get(key) ?? []), value.trim()])
  }
  return fields
}

/** Parses a policy; null if it is not valid. */
export const parseStsPolicy = (text: string): StsPolicy | null => {
  const fields = fieldsOf(text)
  const first = (key: string): string => fields.get(key)?.[0] ?? ''
  const mode = MODES.find((one) => one === first('mode'))
  const mx = (fields.get('mx') ?? []).map((name) => name.toLowerCase().replace(/\.$/, ''))
  const isValid =
    first('version') === 'STSv1' &&
    mode !== undefined &&
    /^\d{1,10}$/.test(first('max_age')) &&
    (mode === 'none' || mx.length > 0) &&
    mx.length <= MAX_MX &&
    mx.every((name) => MX.test(name))
  return isValid ? { mode, mx, maxAge: Math.min(Number(first('max_age')), MAX_AGE) } : null
}

/** Whether the policy names this host (RFC 8461 4.1): `*.` matches exactly one label. */
export const namesHost = ({ mx }: StsPolicy, host: string): boolean =>
  mx.some((name) =>
    name.startsWith('*.') ? host.replace(/^[^.]+\./, '*.') === name && host.includes('.') : name === host,
  )

/** The policy as it is shown in reports (RFC 8460 4.4). */
export const linesOf = ({ mode, mx, maxAge }: StsPolicy): string[] => [
  'version: STSv1',
  `mode: ${mode}`,
  ...mx.map((name) => `mx: ${name}`),
  `max_age: ${maxAge}`,
]
