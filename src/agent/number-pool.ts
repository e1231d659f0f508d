import type { NumberOffer } from '../channel/channel.ts'
import type { Clock } from '../core/clock.ts'
import type { Db } from '../db/client.ts'
import type { PhoneNumber } from '../db/generated/prisma/client.ts'
import { audit } from '../workspace/audit.ts'
import { ensureMember } from '../workspace/member.ts'
import type { Viewer } from '../workspace/viewer.ts'
import type { PhoneNumbers } from './phone-numbers.ts'

/** What members do with the workspace's phone numbers. */
export interface NumberPoolDeps extends Db {
  clock: Clock
  phoneNumbers: Pick<PhoneNumbers, 'list' | 'search' | 'buy' | 'giveBack'>
}

export const listPhoneNumbers = ({ phoneNumbers }: NumberPoolDeps, viewer: Viewer): Promise<PhoneNumber[]> => {
  ensureMember(viewer)
  return phoneNumbers.list(viewer.workspaceId)
}

/** Numbers that can be rented, with what they cost a month where the provider tells. */
export const searchPhoneNumbers = async (
  { phoneNumbers }: NumberPoolDeps,
  viewer: Viewer,
  { country, areaCode }: { country: string; areaCode?: string | undefined },
): Promise<NumberOffer[]> => {
  ensureMember(viewer)
  return phoneNumbers.search(country, areaCode ?? null)
}

/** Rents a number, which then waits in the pool for an agent. Idempotent: `added` says whether it is new. */
export const buyPhoneNumber = async (deps: NumberPoolDeps, viewer: Viewer, input: { value: string }) => {
  ensureMember(viewer)
  const bought = await deps.phoneNumbers.buy(viewer.workspaceId, input.value)
  if (bought.added) await audit(deps, viewer, { action: 'number.buy', agentId: null, detail: { value: bought.number.value } })
  return bought
}

/** Ends the rent of a number that no agent has. */
export const releasePhoneNumber = async (deps: NumberPoolDeps, viewer: Viewer, id: string): Promise<void> => {
  ensureMember(viewer)
  const value = await deps.phoneNumbers.giveBack(viewer.workspaceId, id)
  await audit(deps, viewer, { action: 'number.release', agentId: null, detail: { value } })
}
