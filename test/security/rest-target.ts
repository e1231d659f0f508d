import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { storeApp } from '../support/connected-app.ts'
import { post } from '../support/letter.ts'
import { createTestAgent, type Tenant, type TestAgent, type TestService } from '../support/service.ts'
import type { Ids } from './rest-table.ts'

const SUPPRESSED = {
  channel: 'email',
  recipient: 'gone@example.com',
  reason: 'bounce',
  detail: '550 5.1.1',
} as const

export interface Target {
  agent: TestAgent
  ids: Ids
}

/** Creates an agent with one of each of its resources and of those of its workspace. */
export const createTarget = async (service: TestService, tenant: Tenant): Promise<Target> => {
  const agent = await createTestAgent(service, tenant, 'Target')
  const path = `/agents/${agent.id}`
  const spare = await tenant.api('POST', `${path}/tokens`, { name: 'spare' })
  const webhook = await tenant.api('POST', `${path}/webhooks`, { url: 'http://127.0.0.1:9/hook' })
  const delivery = await tenant.api('POST', `${path}/webhooks/${webhook.body.id}/test`)
  const connection = await agent.api('PUT', `${path}/connection`, { client: 'c', machine: 'm' })
  await agent.api('PUT', `${path}/secrets/KEY`, { value: 'v' })
  await service.db.prisma.suppression.create({ data: { ...SUPPRESSED, agentId: agent.id } })
  await post(service, {
    from: tenant.email,
    to: agent.address,
    text: 'hi',
    html: '<p>hi</p>',
    attachments: [{ filename: 'a.txt', content: 'a' }],
  })
  const email = `${randomUUID()}@example.com`
  const member = await service.db.prisma.member.create({ data: { workspaceId: tenant.id, email } })
  // Created directly, since a workspace cannot send that many in an hour.
  const expiresAt = new Date(Date.now() + 3_600_000)
  const asked = {
    workspaceId: tenant.id,
    email: `${randomUUID()}@example.com`,
    tokenHash: Uint8Array.from(randomBytes(32)),
    expiresAt,
  }
  const invitation = await service.db.prisma.invitation.create({ data: asked })
  const own = { workspaceId: tenant.id, name: `${randomUUID()}.example`, ownershipToken: 't' }
  const domain = await service.db.prisma.domain.create({ data: own }) // directly, since generating its key takes a while
  const number = { workspaceId: tenant.id, value: `+1500${randomInt(1e7, 1e8)}`, providerId: 'PN1' }
  const phoneNumber = await service.db.prisma.phoneNumber.create({ data: number })
  const [message] = (await agent.api('GET', `${path}/messages`)).body.items
  await agent.api('POST', `${path}/access/email/blocked`, { sender: tenant.email })
  const content = { channel: 'email', to: ['bo@example.com'], text: 'hi' }
  const draft = await agent.api('POST', `${path}/drafts`, content)
  const { threadId } = message
  const note = await tenant.api('POST', `${path}/threads/${threadId}/notes`, { text: 'hi' })
  const question = await agent.api('POST', `${path}/questions`, { text: 'Refund?' })
  return {
    agent,
    ids: {
      id: agent.id,
      addressId: message.addressId,
      channel: 'email',
      index: '0',
      name: 'KEY',
      recipient: SUPPRESSED.recipient,
      sender: tenant.email,
      tokenId: spare.body.id,
      webhookId: webhook.body.id,
      deliveryId: delivery.body.id,
      connectionId: connection.body.id,
      memberId: member.id,
      domainId: domain.id,
      phoneNumberId: phoneNumber.id,
      invitationId: invitation.id,
      appId: await storeApp(service.db, {
        workspaceId: tenant.id,
        agentId: agent.id,
        memberId: tenant.member,
      }),
      messageId: message.id,
      draftId: draft.body.id,
      threadId,
      noteId: note.body.id,
      questionId: question.body.id,
    },
  }
}
