import type { Prisma } from '../db/generated/prisma/client.ts'
import { type Keyring, NIL, type SealedColumn } from '../workspace/index.ts'
import { boundTo, ed25519Selector } from './key-pair.ts'

/** Re-encrypts the service's own keys with the current master key. Returns their number. */
export const resealServiceKeys = async (tx: Prisma.TransactionClient, keyring: Keyring): Promise<number> => {
  const keys = await tx.dkimKey.findMany({ where: { workspaceId: null } })
  const resealed = async (domain: string, selector: string, sealed: Uint8Array) => {
    const bound = boundTo({ domain, workspaceId: null }, selector)
    return Uint8Array.from(await keyring.seal(null, await keyring.open(null, sealed, bound), bound))
  }
  for (const { id, domain, selector, privateKey, ed25519PrivateKey } of keys) {
    const data = {
      privateKey: await resealed(domain, selector, privateKey),
      ed25519PrivateKey:
        ed25519PrivateKey && (await resealed(domain, ed25519Selector(selector), ed25519PrivateKey)),
    }
    await tx.dkimKey.update({ where: { id }, data })
  }
  return keys.length
}

const sealedIn = (column: string, suffix: string): SealedColumn => ({
  name: `dkim_key.${column}`,
  first: [NIL],
  page: `
    select array[k.id::text] as at, k.${column} as sealed, format('dkim:%s:%s:%s', k.workspace_id, k.domain, k.selector || '${suffix}') as bound
      from dkim_key k
     where k.workspace_id = $1 and k.id > ($2::text[])[1]::uuid and k.${column} is not null
     order by k.id limit $3`,
  replace: `update dkim_key set ${column} = $3 where id = ($1::text[])[1]::uuid and ${column} = $2`,
})

/**
 * The keys of workspaces' domains, for the rotation of data keys; `bound` must equal the result of `boundTo`.
 */
export const SEALED_DKIM_KEYS: readonly SealedColumn[] = [
  sealedIn('private_key', ''),
  sealedIn('ed25519_private_key', ed25519Selector('')),
]
