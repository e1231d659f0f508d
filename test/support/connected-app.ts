import { randomBytes } from 'node:crypto'
import type { Db } from '../../src/db/client.ts'

interface Owner {
  workspaceId: string
  agentId: string
  memberId: string
}

/** Stores an app as if the member had connected it; returns its id. */
export const storeApp = async ({ prisma }: Pick<Db, 'prisma'>, { memberId, ...owner }: Owner) => {
  const expiresAt = new Date(Date.now() + 3_600_000)
  const { id } = await prisma.token.create({
    data: { ...owner, name: 'App', hash: Uint8Array.from(randomBytes(32)), expiresAt },
  })
  await prisma.connectedApp.create({
    data: { tokenId: id, memberId, clientId: 'client', host: 'client.example' },
  })
  return id
}
