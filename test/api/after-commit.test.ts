import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'
import type { Operation } from '../../src/api/operation.ts'
import { atomically } from '../../src/db/transaction.ts'
import { authenticate, type Viewer } from '../../src/workspace/token/viewer.ts'
import { startGraphql, type TestTenant } from '../support/graphql.ts'
import { one, readSources, type Sources } from '../support/sources.ts'

const service = await startGraphql()
const { deps } = service
const { prisma } = deps
const ours = await service.tenant()

type Input = Record<string, unknown>
type AnyOperation = Operation<Record<string, never>, unknown>

const folder = join(import.meta.dirname, '../../src/api')
const modules = await Promise.all(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => import(join(folder, name)) as Promise<object>),
)
const operations = new Map<string, AnyOperation>(
  modules
    .flatMap((exported) => Object.entries(exported) as [string, AnyOperation][])
    .filter(([, one]) => typeof one?.run === 'function' && !one.rest.startsWith('GET')),
)
const run = (name: string, viewer: Viewer, input: Input, given = deps) =>
  operations.get(name)!.run(given, viewer, input as Record<string, never>)

/** What one operation is called with: an agent of its own, and its workspace. */
interface Scene {
  tenant: TestTenant
  member: Viewer
  agent: Awaited<ReturnType<typeof service.agent>>
  agentId: string
}
const received = async ({ agent, agentId, tenant }: Scene) => {
  await service.letter(agent, tenant, 'Hello')
  const { id, threadId } = await prisma.message.findFirstOrThrow({
    where: { agentId, direction: 'inbound' },
    orderBy: { id: 'desc' },
  })
  return { agentId, messageId: id, threadId }
}
const LETTER = { channel: 'email', subject: 'Hello', text: 'Hello' }
const sent = async ({ tenant, member, agentId }: Scene, more: Input = {}) => {
  const input = { agentId, to: [tenant.email], ...LETTER, ...more }
  const { id } = (await run('sendMessage', member, input)) as { id: string }
  return { agentId, messageId: id }
}
/** A message that waits for approval. */
const held = async (scene: Scene) => {
  const { agentId, member, agent } = scene
  await run('updateAgent', member, { agentId, approval: 'all' })
  return sent({ ...scene, member: await authenticate(deps, agent.token, '') })
}
const later = () => new Date(Date.now() + 3_600_000)
const webhook = async ({ agentId, member }: Scene) => {
  const input = { agentId, url: `http://127.0.0.1:9/${randomUUID()}` }
  const { id } = (await run('addWebhook', member, input)) as { id: string }
  return { agentId, webhookId: id }
}
const delivery = async (scene: Scene, state?: 'expired') => {
  const { agentId, webhookId } = await webhook(scene)
  await received(scene)
  const { id } = await prisma.job.findFirstOrThrow({ where: { agentId, lane: webhookId } })
  if (state) await prisma.job.update({ where: { id_agentId: { id, agentId } }, data: { state } })
  return { agentId, webhookId, deliveryId: id }
}
const otherMember = async ({ tenant: { workspace } }: Scene) => {
  const data = { workspaceId: workspace, email: `${randomUUID()}@example.com`, role: 'member' } as const
  const { id } = await prisma.member.create({ data })
  await prisma.token.create({
    data: { workspaceId: workspace, memberId: id, name: 'one', hash: Buffer.from(randomUUID()) },
  })
  return { memberId: id }
}
const threadOf = async (scene: Scene) => {
  const { agentId, threadId } = await received(scene)
  return { agentId, threadId }
}
const messageOf = async (scene: Scene) => {
  const { agentId, messageId } = await received(scene)
  return { agentId, messageId }
}
const refused = async (scene: Scene) => {
  const { agentId, messageId } = await received(scene)
  await prisma.message.update({
    where: { id_agentId: { id: messageId, agentId } },
    data: { status: 'refused', refusal: 'sender' },
  })
  return { agentId, messageId }
}
const draft = async ({ agentId, member, tenant }: Scene) => {
  const { id } = (await run('createDraft', member, { agentId, to: [tenant.email], ...LETTER })) as {
    id: string
  }
  return { agentId, draftId: id }
}
const connectedApp = async ({ tenant: { workspace, member } }: Scene) => {
  const { id: tokenId } = await prisma.token.create({
    data: { workspaceId: workspace, memberId: member, name: 'app', hash: Buffer.from(randomUUID()) },
  })
  await prisma.connectedApp.create({
    data: { tokenId, memberId: member, clientId: 'a client', host: 'example.com' },
  })
  return { appId: tokenId }
}

const question = async ({ agentId, member }: Scene) => {
  const { id } = (await run('askQuestion', member, { agentId, text: 'Refund?' })) as { id: string }
  return { agentId, questionId: id }
}

/** What each operation that has effects beyond the database is called with. */
const CALLS: Record<string, (scene: Scene) => Input | Promise<Input>> = {
  addWebhook: ({ agentId }) => ({ agentId, url: 'http://127.0.0.1:9/' }),
  answerQuestion: async (scene) => ({ ...(await question(scene)), text: 'Yes' }),
  approveMessage: held,
  askQuestion: ({ agentId }) => ({ agentId, text: 'Refund?' }),
  cancelMessage: (scene) => sent(scene, { sendAt: later() }),
  changeRole: async (scene) => ({ ...(await otherMember(scene)), role: 'owner' }),
  deleteAgent: ({ agentId }) => ({ agentId }),
  deleteWorkspace: () => ({}),
  disconnectApp: connectedApp,
  inviteMember: () => ({ email: `${randomUUID()}@example.com`, role: 'member' }),
  markMessage: async (scene) => ({ ...(await messageOf(scene)), addLabels: ['seen'] }),
  markMessages: async (scene) => {
    const { agentId, messageId } = await received(scene)
    return { agentId, ids: [messageId], addLabels: ['seen'] }
  },
  rejectMessage: held,
  releaseMessage: refused,
  releaseMessages: async (scene) => {
    const { agentId, messageId } = await refused(scene)
    return { agentId, ids: [messageId] }
  },
  removeMember: otherMember,
  removeWebhook: webhook,
  replayWebhook: async (scene) => {
    const { agentId, webhookId } = await delivery(scene)
    await prisma.webhook.update({
      where: { id_agentId: { id: webhookId, agentId } },
      data: { position: 100 },
    })
    return { agentId, webhookId, after: 0 }
  },
  rescheduleMessage: async (scene) => ({ ...(await sent(scene, { sendAt: later() })), sendAt: later() }),
  resendDelivery: (scene) => delivery(scene, 'expired'),
  resendGivenUp: async (scene) => {
    const { deliveryId, ...rest } = await delivery(scene, 'expired')
    await prisma.webhook.updateMany({ where: { id: rest.webhookId }, data: { position: 100 } })
    return { ...rest, since: new Date(0) }
  },
  revokeOwnToken: async ({ member }) => {
    const { id } = (await run('createOwnToken', member, { name: 'one' })) as { id: string }
    return { tokenId: id }
  },
  revokeToken: ({ agentId, agent }) => ({ agentId, tokenId: agent.tokenId }),
  rotateWebhook: webhook,
  sendDraft: draft,
  sendMessage: ({ agentId, tenant }) => ({ agentId, to: [tenant.email], ...LETTER }),
  sendToUrl: async (scene) => {
    await webhook(scene)
    return { agentId: scene.agentId, text: 'Hello' }
  },
  testWebhook: webhook,
  unblockWebhook: async (scene) => ({ ...(await delivery(scene)), skip: true }),
  updateMessage: async (scene) => ({ ...(await messageOf(scene)), read: true }),
  updateThread: async (scene) => ({ ...(await threadOf(scene)), addLabels: ['seen'] }),
  updateThreads: async (scene) => {
    const { agentId, threadId } = await received(scene)
    return { agentId, ids: [threadId], read: true }
  },
  updateThreadsOfAgents: async (scene) => ({ threads: [await threadOf(scene)], read: true }),
  updateWebhook: async (scene) => ({ ...(await webhook(scene)), paused: true }),
  withdrawQuestion: question,
  updateWorkspace: () => ({ requirePasskeys: false, agentsMayCreateAgents: false }),
}

/** Those with no effect but on the database, which announces its changes itself. */
const QUIET = new Set([
  ...['allowSender', 'blockSender', 'disallowSender', 'takeCode', 'unblockSender'],
  ...[
    'addDomain',
    'addThreadNote',
    'buyPhoneNumber',
    'changeAddress',
    'claimIdentity',
    'connect',
    'createAgent',
    'createOwnToken',
  ],
  ...['createDraft', 'createToken', 'deleteDraft', 'deleteMessage', 'deleteMessages', 'deleteSecret'],
  ...['deleteThreadNote', 'linkAttachment', 'linkMessageHtml', 'linkRawMessage', 'linkTelegram'],
  ...['releasePhoneNumber', 'removeAddress', 'removeDomain', 'removeIdentity', 'removeSuppression'],
  ...['restoreWorkspace', 'revealSecrets', 'revokeInvitation', 'setAccess', 'setSecret', 'setUpAddress'],
  ...['updateAgent', 'updateDomain', 'updateDraft', 'updateOwnMember', 'verifyDomain', 'verifyIdentity'],
])
/** Called otherwise: over a path of its own, with what another takes, or after a request to a server outside. */
const LIKE = {
  sendToMessageUrl: 'sendToUrl',
  unsubscribe: 'sendMessage',
  updateOwnMemberAndViews: 'updateOwnMember',
}

/** Returns dependencies that record effects in place of having them. */
const recording = () => {
  const effects: string[] = []
  const record =
    (kind: string) =>
    (what?: unknown): void =>
      void effects.push(`${kind} ${typeof what === 'string' ? what : ''}`)
  const spied: typeof deps = {
    ...deps,
    notifier: { ...deps.notifier, publish: record('publish') },
    feed: Object.assign(Object.create(deps.feed) as typeof deps.feed, { committed: record('event') }),
    texts: Object.assign(Object.create(deps.texts) as typeof deps.texts, { share: record('text') }),
    mailer: Object.assign(Object.create(deps.mailer) as typeof deps.mailer, { send: record('mail') }),
  }
  return { spied, effects }
}

const sceneFor = async (name: string): Promise<Scene> => {
  const tenant = name === 'deleteWorkspace' ? await service.tenant() : ours
  const agent = await service.agent(tenant)
  const member = await authenticate(deps, tenant.token, '')
  return { tenant, agent, agentId: agent.id, member }
}

test('every operation is known to have effects, or to have none', () => {
  const known = [...Object.keys(CALLS), ...QUIET, ...Object.keys(LIKE)]
  expect([...operations.keys()].sort()).toEqual(known.sort())
})

test.each(Object.keys(CALLS))('%s has effects after its commit, and none after a rollback', async (name) => {
  const scene = await sceneFor(name)
  const input = await CALLS[name]!(scene)
  const { spied, effects } = recording()
  const failing = atomically(spied, async (within) => {
    await run(name, scene.member, input, within)
    throw new Error('too late')
  })
  await expect(failing).rejects.toThrow('too late')
  expect(effects).toEqual([])
  await atomically(spied, async (within) => {
    await run(name, scene.member, input, within)
    expect(effects).toEqual([])
  })
  expect(effects).not.toEqual([])
})

/** Code that has effects by itself: what announces them, and workers, which hold no transaction of a caller. */
const ANNOUNCERS = /^(event\/(feed|texts)|webhook\/delivery\/(lane-worker|take-over)|db\/notify)\.ts$/
const EFFECT = /(^|\.)(notifier\.publish|mailer\.send|feed\.committed|texts\.share)$/
const CHECKED =
  /^(agent|auth|background|email-domain|message|question|secret|webhook|workspace|event|admission|api)\//

/** Returns the calls that have an effect outside `afterCommit`, and those of `afterCommit` inside a transaction of their own. */
const findEarly = (sources: Sources): string[] => {
  const found: string[] = []
  for (const [file, text] of sources) {
    if (!CHECKED.test(file) || ANNOUNCERS.test(file)) continue
    const open: string[] = []
    new Visitor({
      CallExpression({ callee }) {
        const called = text.slice(callee.start, callee.end)
        const isDeferred = open.some((one) => one.endsWith('afterCommit'))
        if (EFFECT.test(called) && !isDeferred) found.push(`${file}: ${called}`)
        if (/\bafterCommit$/.test(called) && open.some((one) => one.endsWith('$transaction')))
          found.push(`${file}: ${called} inside a transaction`)
        open.push(called)
      },
      'CallExpression:exit'() {
        open.pop()
      },
    }).visit(parseSync(file, text).program)
  }
  return found
}

test('effects go through afterCommit alone', () => {
  expect(findEarly(readSources())).toEqual([])
})

test('an effect that does not wait for the commit is found', () => {
  expect(findEarly(one('agent/a.ts', 'deps.afterCommit(() => deps.notifier.publish(A, id))'))).toEqual([])
  expect(findEarly(one('agent/a.ts', 'notifier.publish(A, id)'))).toEqual(['agent/a.ts: notifier.publish'])
  expect(
    findEarly(one('agent/a.ts', 'prisma.$transaction(() => { afterCommit(() => mailer.send(x)) })')),
  ).toEqual(['agent/a.ts: afterCommit inside a transaction'])
})
