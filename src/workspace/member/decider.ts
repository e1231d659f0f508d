import type { Member } from '../../db/generated/prisma/client.ts'
import type { Viewer } from '../token/viewer.ts'

/** Who decides: a caller with a token, or the member whom a mailed link or a verified account proves. */
export type Decider = Pick<Viewer, 'kind' | 'id' | 'workspaceId' | 'name' | 'email'> & {
  tokenId: string | null
}

/** A member who has shown who they are without a token decides as if they had used one. */
export const deciderOf = ({ id, workspaceId, name, email }: Member): Decider => ({
  ...{ kind: 'member', id, workspaceId, name, email, tokenId: null },
})

/** Returns the name under which the decision of a viewer is recorded. */
export const nameOf = ({ name, email, id }: Decider): string => name ?? email ?? id
