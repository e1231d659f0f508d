import { counted, MOST } from './counted.ts'
import type { FleetAgent, FleetData } from './query.ts'
import { text } from './strings.ts'

/** Something that a person should see to: why, and where it can be done. */
export interface Need {
  kind: 'asked' | 'deaf' | 'failing' | 'held' | 'refused' | 'silent' | 'unread'
  words: string
  href: string
}

/** An agent with what it needs, the most urgent first. */
export interface Line {
  agent: FleetAgent
  needs: readonly Need[]
}

/** What comes first: what stands still, then what somebody waits for, then what may be wanted. */
const URGENCY: readonly Need['kind'][] = ['failing', 'deaf', 'asked', 'held', 'silent', 'refused', 'unread']

const needsOf = (agent: FleetAgent, failing: number): Need[] => {
  const { id, listening, unheardCount, heldCount, refusedCount, unreadCount } = agent
  const isDeaf = !listening.now && unheardCount > 0
  const all: (Need & { isSo: boolean })[] = [
    {
      kind: 'failing',
      isSo: failing > 0,
      words: text.needs.failing(failing),
      href: `/agents/${id}/webhooks`,
    },
    {
      kind: 'deaf',
      isSo: isDeaf,
      words: text.needs.deaf(counted(unheardCount, unheardCount >= MOST.unheard)),
      href: `/agents/${id}/tokens`,
    },
    { kind: 'held', isSo: heldCount > 0, words: text.needs.held(heldCount), href: '/waiting' },
    {
      kind: 'silent',
      isSo: !listening.now && !isDeaf,
      words: listening.since ? text.needs.silent : text.needs.unconnected,
      href: `/agents/${id}/tokens`,
    },
    {
      kind: 'refused',
      isSo: refusedCount > 0,
      words: text.needs.refused(refusedCount),
      href: '/waiting/refused',
    },
    {
      kind: 'unread',
      isSo: unreadCount > 0,
      words: text.needs.unread(counted(unreadCount, unreadCount >= MOST.unread)),
      href: `/inbox?agent=${id}`,
    },
  ]
  return all.filter(({ isSo }) => isSo)
}

const rankOf = ({ needs: [first] }: Line): number => (first ? URGENCY.indexOf(first.kind) : URGENCY.length)

/** The agents, those first that need a person most; among equals, those with the most messages waiting. */
export const linesOf = ({ agents, workspace }: FleetData): Line[] => {
  const failing = new Map<string, number>()
  for (const { agentId } of workspace.webhooks) failing.set(agentId, (failing.get(agentId) ?? 0) + 1)
  const waiting = ({ agent }: Line): number => agent.unheardCount + agent.heldCount
  return agents
    .map((agent) => ({ agent, needs: needsOf(agent, failing.get(agent.id) ?? 0) }))
    .sort((one, other) => rankOf(one) - rankOf(other) || waiting(other) - waiting(one))
}

const sum = (agents: readonly FleetAgent[], count: (agent: FleetAgent) => number): number =>
  agents.reduce((total, agent) => total + count(agent), 0)

/** The same for the whole workspace, as the page begins with it. Unread mail is no emergency. */
export const allNeeds = ({ agents, workspace: { webhooks, questions } }: FleetData): Need[] => {
  const deaf = agents.filter(({ listening, unheardCount }) => !listening.now && unheardCount > 0)
  const held = sum(agents, ({ heldCount }) => heldCount)
  const refused = sum(agents, ({ refusedCount }) => refusedCount)
  const needs: (Need & { count: number })[] = [
    { kind: 'held', count: held, words: text.all.held(held), href: '/waiting' },
    {
      kind: 'asked',
      count: questions.length,
      words: text.all.asked(questions.length),
      href: '/waiting/questions',
    },
    { kind: 'failing', count: webhooks.length, words: text.all.failing(webhooks.length), href: '/health' },
    {
      kind: 'deaf',
      count: deaf.length,
      words: text.all.deaf(
        deaf.length,
        counted(
          sum(deaf, ({ unheardCount }) => unheardCount),
          deaf.some(({ unheardCount }) => unheardCount >= MOST.unheard),
        ),
      ),
      href: deaf.length === 1 ? `/agents/${deaf[0]!.id}/tokens` : '#fleet',
    },
    { kind: 'refused', count: refused, words: text.all.refused(refused), href: '/waiting/refused' },
  ]
  return needs.filter(({ count }) => count > 0)
}
