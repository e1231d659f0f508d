import { graphql, type ResultOf } from '../live/graphql.ts'
import { language } from '../parts/language.ts'

/** The settings of an agent that are numbers, or null for no limit: a new one is added to this file alone. */
export const AGENT_LIMITS = graphql(`fragment AgentLimits on Agent { wakesPerHour wakesPerThreadDay }`)

type Name = keyof ResultOf<typeof AGENT_LIMITS>

const LABELS: Readonly<Record<Name, { en: string; de: string }>> = {
  wakesPerHour: { en: 'Messages per hour', de: 'Nachrichten pro Stunde' },
  wakesPerThreadDay: { en: 'Messages per thread and day', de: 'Nachrichten pro Unterhaltung und Tag' },
}

export const LIMITS = Object.entries(LABELS).map(([name, label]) => ({
  name: name as Name,
  label: label[language],
}))

/** Makes something of each limit. */
export const eachLimit = <Made>(make: (name: Name) => Made) =>
  Object.fromEntries(LIMITS.map(({ name }) => [name, make(name)])) as Record<Name, Made>
