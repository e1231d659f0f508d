import { plain } from '../core/text/plain.ts'

/** What a check found. `problem`: something does not work; `warning`: it may, or will soon not. */
type Status = 'ok' | 'warning' | 'problem' | 'skipped'

/** One thing that was checked. */
export interface Finding {
  status: Status
  /** What was found, in a sentence. */
  message: string
  /** What to do about it; null when there is nothing to do. */
  advice: string | null
}

/** The groups of checks, in the order in which they are reported. */
export const AREAS = ['settings', 'database', 'dns', 'ports', 'tls', 'clock', 'providers'] as const
export type Area = (typeof AREAS)[number]

export interface Report {
  /** Whether there is no problem. */
  ok: boolean
  problems: number
  warnings: number
  findings: ({ area: Area } & Finding)[]
}

export const ok = (message: string): Finding => ({ status: 'ok', message, advice: null })
export const skipped = (message: string): Finding => ({ status: 'skipped', message, advice: null })
export const warning = (message: string, advice: string): Finding => ({ status: 'warning', message, advice })
export const problem = (message: string, advice: string): Finding => ({ status: 'problem', message, advice })

export const reportOf = (findings: Report['findings']): Report => {
  const count = (status: Status) => findings.filter((finding) => finding.status === status).length
  const problems = count('problem')
  return { ok: problems === 0, problems, warnings: count('warning'), findings }
}

const TITLES: Record<Area, string> = {
  settings: 'Settings',
  database: 'Database',
  dns: 'DNS',
  ports: 'Ports',
  tls: 'TLS',
  clock: 'Clock',
  providers: 'Providers',
}

const LABEL_WIDTH = 'problem'.length

const lines = ({ status, message, advice }: Finding): string[] => [
  `  ${status.padEnd(LABEL_WIDTH)}  ${plain(message)}`,
  ...(advice === null ? [] : [`  ${' '.repeat(LABEL_WIDTH)}  → ${plain(advice)}`]),
]

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

/** Formats a report for a terminal. */
export const asText = ({ problems, warnings, findings }: Report): string => {
  const groups = AREAS.map((area) => [area, findings.filter((finding) => finding.area === area)] as const)
  const text = groups
    .filter(([, group]) => group.length > 0)
    .flatMap(([area, group]) => [TITLES[area], ...group.flatMap(lines), ''])
  return [...text, `${counted(problems, 'problem')}, ${counted(warnings, 'warning')}.`].join('\n')
}
