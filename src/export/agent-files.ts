import { readTexts } from '../agent/index.ts'
import { Address } from '../api/agent/address.ts'
import { Agent as AGENT } from '../api/agent/agent.ts'
import { Suppression } from '../api/agent/suppression.ts'
import { present } from '../api/resource.ts'
import type { Db } from '../db/client.ts'
import type { Agent } from '../db/generated/prisma/client.ts'
import { json, jsonLines } from './json.ts'
import { type FileDeps, messageFiles } from './message-files.ts'
import type { ArchiveFile } from './tar.ts'
import { noteFiles, stateFiles } from './thread-files.ts'

/** An agent's settings. Values of secrets, keys and headers of webhooks are not exported. */
const settingsOf = async ({ prisma }: Db, agent: Agent): Promise<ArchiveFile[]> => {
  const where = { agentId: agent.id }
  const [addresses, access, webhooks, secrets, suppressions, drafts] = await Promise.all([
    prisma.address.findMany({ where, orderBy: { createdAt: 'asc' } }),
    prisma.access.findMany({ where, orderBy: { channel: 'asc' } }),
    prisma.webhook.findMany({
      where: { ...where, kind: 'webhook' },
      orderBy: { createdAt: 'asc' },
      select: { id: true, url: true, name: true, types: true, channels: true, body: true, createdAt: true },
    }),
    prisma.secret.findMany({
      where: { ...where, expiresAt: null },
      orderBy: { name: 'asc' },
      select: { name: true, setByKind: true, createdAt: true, updatedAt: true },
    }),
    prisma.suppression.findMany({ where, orderBy: { createdAt: 'asc' } }),
    prisma.draft.findMany({
      where,
      orderBy: { createdAt: 'asc' },
      select: { id: true, content: true, savedByName: true, createdAt: true, updatedAt: true },
    }),
  ])
  return [
    {
      path: 'agent.json',
      content: json({ ...present(AGENT, agent), ...(await readTexts({ prisma }, agent.id)) }),
    },
    { path: 'addresses.jsonl', content: jsonLines(addresses.map((row) => present(Address, row))) },
    { path: 'access.jsonl', content: jsonLines(access.map(({ agentId: _, ...entry }) => entry)) },
    { path: 'webhooks.jsonl', content: jsonLines(webhooks) },
    { path: 'secrets.jsonl', content: jsonLines(secrets) },
    { path: 'suppressions.jsonl', content: jsonLines(suppressions.map((row) => present(Suppression, row))) },
    { path: 'drafts.jsonl', content: jsonLines(drafts) },
  ].filter(({ content }) => content.length > 0)
}

async function* draftFiles({ prisma }: Db, agentId: string): AsyncGenerator<ArchiveFile> {
  const files = await prisma.draftFile.findMany({
    where: { agentId },
    select: { draftId: true, index: true },
  })
  for (const { draftId, index } of files) {
    const file = await prisma.draftFile.findUnique({
      where: { draftId_index_agentId: { draftId, index, agentId } },
    })
    if (file) yield { path: `draft-files/${draftId}/${index}`, content: file.content }
  }
}

/** Yields everything of an agent. Notes are for members only. */
export async function* agentFiles(
  db: FileDeps,
  agent: Agent,
  { forMember }: { forMember: boolean },
): AsyncGenerator<ArchiveFile> {
  yield* await settingsOf(db, agent)
  yield* draftFiles(db, agent.id)
  yield* stateFiles(db, agent.id)
  if (forMember) yield* noteFiles(db, agent.id)
  yield* messageFiles(db, agent.id)
}
