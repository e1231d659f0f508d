import type { Prisma } from '../db/generated/prisma/client.ts'

export interface Template {
  name: string
  text: string
}

/** What people write with again and again when they answer for an agent. */
export interface AgentTexts {
  signature: string | null
  templates: Template[]
}

export type TextChanges = { [Key in keyof AgentTexts]?: AgentTexts[Key] | undefined }

/** Returns the texts of a row; an agent has none at first. */
export const textsOf = (
  row: { signature: string | null; templates: Prisma.JsonValue } | null,
): AgentTexts => ({
  signature: row?.signature ?? null,
  templates: (row?.templates ?? []) as unknown as Template[],
})

/** Reads the texts of an agent that the caller has found. */
export const readTexts = async (
  { prisma }: { prisma: Pick<Prisma.TransactionClient, 'agentTexts'> },
  agentId: string,
): Promise<AgentTexts> => textsOf(await prisma.agentTexts.findUnique({ where: { agentId } }))

/** Changes the given texts. Returns what the audit log tells of it: not the texts. */
export const saveTexts = async (
  prisma: Pick<Prisma.TransactionClient, 'agentTexts'>,
  agentId: string,
  { signature, templates }: TextChanges,
): Promise<{ signature?: boolean; templates?: string[] }> => {
  if (signature === undefined && templates === undefined) return {}
  const data = {
    ...(signature === undefined ? {} : { signature: signature === '' ? null : signature }),
    ...(templates === undefined ? {} : { templates: templates.map(({ name, text }) => ({ name, text })) }),
  }
  await prisma.agentTexts.upsert({ where: { agentId }, create: { agentId, ...data }, update: data })
  return {
    ...(signature === undefined ? {} : { signature: Boolean(signature) }),
    ...(templates === undefined ? {} : { templates: templates.map(({ name }) => name) }),
  }
}
