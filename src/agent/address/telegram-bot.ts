import type { Bot, BotStore } from '../../channel/telegram/bots.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { ensureNotMoving, type Keyring, NIL, type SealedColumn } from '../../workspace/index.ts'

export interface BotDeps extends Db {
  keyring: Keyring
}

/** Returns the context that a sealed token is bound to. */
const binding = (addressId: string) => `telegram_bot:${addressId}`

/** Encrypts a bot's token for storage. */
export const sealBotToken = async (
  { keyring }: BotDeps,
  workspaceId: string,
  addressId: string,
  token: string,
) => Uint8Array.from(await keyring.seal(workspaceId, token, binding(addressId)))

/** Decrypts what `sealBotToken` returned. */
export const openBotToken = async (
  { keyring }: BotDeps,
  workspaceId: string,
  addressId: string,
  sealed: Uint8Array,
): Promise<string> => (await keyring.open(workspaceId, sealed, binding(addressId))).toString()

const include = { address: true }
type Row = Prisma.TelegramBotGetPayload<{ include: typeof include }>

const botOf = ({ addressId, botId, address }: Row): Bot => ({
  addressId,
  id: Number(botId),
  address: address.value,
})

/** Creates the channel's access to the Telegram bots of all agents. */
export const createBotStore = (deps: BotDeps): BotStore => {
  const { telegramBot } = deps.prisma
  const tokenOf = ({ addressId, token, address }: Row): Promise<string> =>
    openBotToken(deps, address.workspaceId, addressId, token)
  const withToken = async (row: Row) => ({ ...botOf(row), token: await tokenOf(row) })
  return {
    behind: async (addressId) => {
      const row = await telegramBot.findUnique({ where: { addressId }, include })
      if (row) await ensureNotMoving(deps, row.address.workspaceId)
      return row && { ...botOf(row), secretHash: row.secretHash }
    },
    named: async (value) => {
      const row = await telegramBot.findFirst({ where: { address: { channel: 'telegram', value } }, include })
      return row && withToken(row)
    },
    token: async (addressId) => {
      const row = await telegramBot.findUnique({ where: { addressId }, include })
      return row && tokenOf(row)
    },
    elsewhere: async (startsWith, endsWith, limit) => {
      const where = { NOT: { webhookUrl: { startsWith, endsWith } } }
      return (await telegramBot.findMany({ where, include, take: limit })).map(botOf)
    },
    connected: async (addressId, { url, secretHash }) => {
      await telegramBot.updateMany({ where: { addressId }, data: { webhookUrl: url, secretHash } })
    },
  }
}

/** All tokens, for the rotation of data keys; `bound` must equal the result of `binding`. */
export const SEALED_BOT_TOKENS: SealedColumn = {
  name: 'telegram_bot.token',
  first: [NIL],
  page: `
    select array[b.address_id::text] as at, b.token as sealed, format('telegram_bot:%s', b.address_id) as bound
      from telegram_bot b join address a on a.id = b.address_id
     where a.workspace_id = $1 and b.address_id > ($2::text[])[1]::uuid
     order by b.address_id limit $3`,
  replace: `update telegram_bot set token = $3 where address_id = ($1::text[])[1]::uuid and token = $2`,
}
