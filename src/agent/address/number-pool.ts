import type { NumberOffer } from '../../channel/number-provider.ts'
import type { Db } from '../../db/client.ts'
import type { PhoneNumber } from '../../db/generated/prisma/client.ts'
import { callExternally, type ExternalCallDeps, ensureMember, type Viewer } from '../../workspace/index.ts'
import type { PhoneNumbers } from './phone-numbers.ts'

/** Dependencies of the operations on the workspace's phone numbers. */
export interface NumberPoolDeps extends Db, ExternalCallDeps {
  phoneNumbers: Pick<PhoneNumbers, 'list' | 'search' | 'buy' | 'release'>
}

const actorOf = ({ kind, id, tokenId, requestId }: Viewer) => ({
  kind,
  id,
  tokenId,
  requestId,
  agentId: null,
})

export const listPhoneNumbers = (
  { phoneNumbers }: NumberPoolDeps,
  viewer: Viewer,
): Promise<PhoneNumber[]> => {
  ensureMember(viewer)
  return phoneNumbers.list(viewer.workspaceId)
}

/** Returns numbers that can be rented, with their monthly price if the provider states it. */
export const searchPhoneNumbers = async (
  deps: NumberPoolDeps,
  viewer: Viewer,
  { country, areaCode }: { country: string; areaCode?: string | undefined },
): Promise<NumberOffer[]> => {
  ensureMember(viewer)
  return callExternally(deps, viewer, () => deps.phoneNumbers.search(country, areaCode ?? null))
}

/** Rents a number and adds it to the pool. Idempotent: `added` is true if it is new. */
export const buyPhoneNumber = async (deps: NumberPoolDeps, viewer: Viewer, input: { value: string }) => {
  ensureMember(viewer)
  return callExternally(deps, viewer, () =>
    deps.phoneNumbers.buy(viewer.workspaceId, input.value, actorOf(viewer)),
  )
}

/** Stops renting a number that no agent has. */
export const releasePhoneNumber = async (deps: NumberPoolDeps, viewer: Viewer, id: string): Promise<void> => {
  ensureMember(viewer)
  await callExternally(deps, viewer, () => deps.phoneNumbers.release(viewer.workspaceId, id, actorOf(viewer)))
}
