import { v7 as newId } from 'uuid'
import type { ManagedBot, Manager } from '../../channel/telegram/manager.ts'
import type { BotProvider } from '../../channel/telegram/provider.ts'
import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import type { ExternalCalls } from '../../workspace/external-calls.ts'
import { newIdentityLink } from '../../workspace/identity-link.ts'
import { mapUniqueViolation } from '../own-address.ts'
import { type BotDeps, openBotToken, sealBotToken } from '../telegram-bot.ts'
import {
  joinAddress,
  listSenders,
  mayListAnybody,
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

/**
 * Set-ups whose transaction may wait for Telegram at a time, in one process: the other connections are for
 * everybody else.
 */
const MAX_AT_ONCE = 4

const limited = <Result>(
  { externalCalls }: SetUpTelegramDeps,
  work: () => Promise<Result>,
): Promise<Result> => externalCalls.inTurn('telegram set-ups', MAX_AT_ONCE, work)

interface NewBot {
  /** Telegram's id of it. */
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
 * The agent has the bot already, but under a token that counts no more, or another name: the new one takes
 * its place. Null when nobody has the bot.
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
 * Gives the agent a bot. Telegram is told last, inside the transaction: a bot that somebody else has got
 * meanwhile never has its webhook moved, and one that Telegram refuses is not the agent's.
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
 * Telegram's page where the member makes the link's bot; null when this service has no manager bot, or it may
 * not make any now.
 */
export const newBotLink = async (
  { manager }: { manager: Pick<Manager, 'linkFor'> | null },
  { suggestion, agent }: Setup,
) => (suggestion && (await manager?.linkFor(suggestion, agent.name))) || null

/** The bot that was made under the name that a link suggested, once it is the agent's. */
export const findMadeBot = async (
  { prisma }: Db,
  { suggestion, agent }: Setup,
): Promise<{ value: string } | null> =>
  suggestion === null
    ? null
    : prisma.address.findFirst({ where: { agentId: agent.id, channel: 'telegram', value: `@${suggestion}` } })

export interface TelegramBotMade {
  /** The bot's address. */
  value: string
  /**
   * Opens the bot so that it gets to know the member's account; null when it knows it, or no member asked.
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
    (await newIdentityLink({ prisma, clock }, { memberId: member.id, agentId: agent.id })).code,
  )

/**
 * Gives the agent of a set-up link the bot of a token that a member brought; they can wake the agent from the
 * Telegram ids that they proved to be theirs, or else from the account with which they open `startUrl`. Null
 * when the link can't be used (any more). Throws `invalid_input` for a token that is no bot's, `conflict` for
 * a bot that an agent has or that Telegram doesn't connect, `rate_limited` while several are being set up,
 * `unavailable` while Telegram can't be asked: the link stays good.
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
  return limited(deps, () => mapUniqueViolation(address, setUp))
}

/**
 * The open link that a bot was made for: the one that suggested its name, else the newest of the member whose
 * Telegram account made it.
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
 * Takes on a bot that somebody made with the manager's link, or the new token and name of one that an agent
 * has. Whoever made it can wake the agent, unless the link is an agent's where only members set access. May
 * come twice; a bot that no open link waits for is nobody's. Throws what `BotProvider.connect` throws.
 */
export const adoptManagedBot = async (deps: SetUpTelegramDeps, bot: ManagedBot): Promise<void> => {
  const known = await deps.prisma.telegramBot.findUnique({
    where: { botId: bot.id },
    include: { address: true },
  })
  if (known) {
    const update = (tx: Prisma.TransactionClient) => bringUpToDate(deps, tx, known, bot)
    return limited(deps, () => deps.prisma.$transaction(update, { timeout: 25_000 }))
  }
  const link = await linkFor(deps, bot)
  const add = (open: { id: string }) => () =>
    redeem(deps, open, async (tx, setup) => {
      await addBot(deps, tx, setup, bot)
      const maker = (await mayListAnybody(tx, setup)) ? [String(bot.ownerId)] : []
      await listSenders(tx, setup, [...(await provenAddresses(tx, setup)), ...maker])
      return true
    })
  const added = link && (await limited(deps, () => mapUniqueViolation(bot.address, add(link))))
  deps.log.info({ bot: bot.id, added: added === true }, 'a managed bot was made')
}
