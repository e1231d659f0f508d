import { v7 as newId } from 'uuid'
import type { ManagedBot, Manager } from '../../channel/telegram/manager.ts'
import type { BotProvider } from '../../channel/telegram/provider.ts'
import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { type ExternalCalls, newIdentityLink } from '../../workspace/index.ts'
import { mapUniqueViolation } from '../address/own-address.ts'
import { type BotDeps, openBotToken, sealBotToken } from '../address/telegram-bot.ts'
import {
  joinAddress,
  listSenders,
  mayListUnproven,
  type OpenSetupDeps,
  provenAddresses,
  redeem,
  type Setup,
} from './redeem-link.ts'

export interface SetUpTelegramDeps extends OpenSetupDeps, BotDeps {
  bots: BotProvider
  externalCalls: ExternalCalls
  log: Logger
}

interface NewBot {
  /** Telegram's id of the bot. */
  id: number
  address: string
  token: string
}

const taken = ({ address }: NewBot, isOurs: boolean) =>
  new AppError(
    'conflict',
    isOurs ? `The agent already has ${address}.` : `The bot ${address} belongs to another agent.`,
  )

/**
 * Replaces the token and name of a bot that the agent already has. Returns null when no agent has the bot;
 * throws `conflict` when nothing changed or another agent has it.
 */
const renew = async (
  deps: SetUpTelegramDeps,
  tx: Prisma.TransactionClient,
  { agent }: Setup,
  bot: NewBot,
): Promise<true | null> => {
  const known = await tx.telegramBot.findUnique({ where: { botId: bot.id }, include: { address: true } })
  if (!known) return null
  if (known.address.agentId !== agent.id) throw taken(bot, false)
  const token = await openBotToken(deps, agent.workspaceId, known.addressId, known.token)
  if (token === bot.token && known.address.value === bot.address) throw taken(bot, true)
  await bringUpToDate(deps, tx, known, bot)
  return true
}

type Known = Prisma.TelegramBotGetPayload<{ include: { address: true } }>

const bringUpToDate = async (
  deps: SetUpTelegramDeps,
  tx: Prisma.TransactionClient,
  { addressId, address }: Known,
  bot: NewBot,
) => {
  await tx.address.update({ where: { id: addressId }, data: { value: bot.address } })
  const token = await sealBotToken(deps, address.workspaceId, addressId, bot.token)
  const { url, secretHash } = await deps.bots.connect(bot.token, addressId)
  await tx.telegramBot.update({ where: { addressId }, data: { token, secretHash, webhookUrl: url } })
}

/**
 * Adds a bot to the agent. Telegram is called last, inside the transaction: the webhook of a bot that another
 * agent took concurrently is never changed, and a bot that Telegram refuses is not added.
 */
const addBot = async (
  deps: SetUpTelegramDeps,
  tx: Prisma.TransactionClient,
  setup: Setup,
  bot: NewBot,
): Promise<void> => {
  if (await renew(deps, tx, setup, bot)) return
  const id = newId()
  const { workspaceId } = setup.agent
  await joinAddress(tx, setup, { id, value: bot.address, createdAt: deps.clock.now() })
  const token = await sealBotToken(deps, workspaceId, id, bot.token)
  const row = { addressId: id, botId: bot.id, token }
  await tx.telegramBot.create({ data: { ...row, secretHash: new Uint8Array(32), webhookUrl: '' } })
  const { url, secretHash } = await deps.bots.connect(bot.token, id)
  await tx.telegramBot.update({ where: { addressId: id }, data: { secretHash, webhookUrl: url } })
}

/**
 * Returns Telegram's page on which the member creates the link's bot; null when this service has no manager
 * bot, or when it cannot create bots now.
 */
export const newBotLink = async (
  { manager }: { manager: Pick<Manager, 'linkFor'> | null },
  { suggestion, agent }: Setup,
) => (suggestion && (await manager?.linkFor(suggestion, agent.name))) || null

/** Returns the bot with the name that a link suggested, once it belongs to the agent. */
export const findMadeBot = async (
  { prisma }: Db,
  { suggestion, agent }: Setup,
): Promise<{ value: string } | null> =>
  suggestion === null
    ? null
    : prisma.address.findFirst({ where: { agentId: agent.id, channel: 'telegram', value: `@${suggestion}` } })

export interface TelegramBotMade {
  /** Address of the bot. */
  value: string
  /**
   * Link that opens the bot, so that it learns the member's account; null when the account is known or the
   * link has no member.
   */
  startUrl: string | null
}

const introduce = async (
  { clock, bots }: SetUpTelegramDeps,
  prisma: Prisma.TransactionClient,
  { member, agent }: Setup,
  address: string,
) =>
  member &&
  bots.startLink(
    address,
    (await newIdentityLink({ prisma, clock }, { memberId: member.id, agentId: agent.id, address })).code,
  )

/**
 * Adds the bot with a given token to the agent of a set-up link. The link's member can reach the agent from
 * the Telegram ids that they verified, or else from the account with which they open `startUrl`. Returns null
 * when the link is not valid or no longer valid. Throws `invalid_input` for a token that is not a bot's,
 * `conflict` for a bot that an agent has or that Telegram does not connect, `rate_limited` while too many are
 * being set up, and `unavailable` while Telegram does not respond; the link then stays valid.
 */
export const setUpTelegramBot = async (
  deps: SetUpTelegramDeps,
  link: string,
  token: string,
): Promise<TelegramBotMade | null> => {
  const { id, address } = await deps.bots.identify(token)
  const bot = { id, address, token: token.trim() }
  const setUp = () =>
    redeem(deps, link, async (tx, setup) => {
      await addBot(deps, tx, setup, bot)
      const ids = await provenAddresses(tx, setup)
      await listSenders(tx, setup, ids)
      return { value: address, startUrl: ids.length > 0 ? null : await introduce(deps, tx, setup, address) }
    })
  return deps.externalCalls.setUp(() => mapUniqueViolation(address, setUp))
}

/**
 * Returns the open link that a bot was created for: the one that suggested its name, else the newest one of
 * the member whose Telegram account created it.
 */
const linkFor = async (
  { prisma, clock }: SetUpTelegramDeps,
  { address, ownerId }: ManagedBot,
): Promise<{ id: string } | null> => {
  const open = { channel: 'telegram', usedAt: null, expiresAt: { gt: clock.now() } } as const
  const suggested = await prisma.setupLink.findFirst({ where: { ...open, suggestion: address.slice(1) } })
  if (suggested) return { id: suggested.id }
  const member = { identities: { some: { channel: 'telegram', value: String(ownerId) } } } as const
  const own = await prisma.setupLink.findFirst({ where: { ...open, member }, orderBy: { createdAt: 'desc' } })
  return own && { id: own.id }
}

/**
 * Adds a bot that was created with the manager's link, or updates the token and name of one that an agent
 * has. The account that created it can reach the agent, unless an agent created the link and only members can
 * set access. Idempotent; a bot without an open link is ignored. Throws what `BotProvider.connect` throws.
 */
export const adoptManagedBot = async (deps: SetUpTelegramDeps, bot: ManagedBot): Promise<void> => {
  const known = await deps.prisma.telegramBot.findUnique({
    where: { botId: bot.id },
    include: { address: true },
  })
  if (known) {
    const update = (tx: Prisma.TransactionClient) => bringUpToDate(deps, tx, known, bot)
    return deps.externalCalls.setUp(() => deps.prisma.$transaction(update, { timeout: 25_000 }))
  }
  const link = await linkFor(deps, bot)
  const add = (open: { id: string }) => () =>
    redeem(deps, open, async (tx, setup) => {
      await addBot(deps, tx, setup, bot)
      const maker = (await mayListUnproven(tx, setup)) ? [String(bot.ownerId)] : []
      await listSenders(tx, setup, [...(await provenAddresses(tx, setup)), ...maker])
      return true
    })
  const added = link && (await deps.externalCalls.setUp(() => mapUniqueViolation(bot.address, add(link))))
  deps.log.info({ bot: bot.id, added: added === true }, 'managed bot created')
}
