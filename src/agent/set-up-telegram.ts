import { v7 as newId } from 'uuid'
import type { ManagedBot, Manager } from '../channel/telegram/manager.ts'
import type { BotProvider } from '../channel/telegram/provider.ts'
import { AppError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import { newIdentityLink } from '../workspace/identity-link.ts'
import { startLink } from './link-telegram.ts'
import { joinAddress, listSenders, type OpenSetupDeps, redeem, type Setup } from './open-setup.ts'
import { untilTaken } from './own-address.ts'
import { type BotDeps, openBotToken, sealBotToken } from './telegram-bot.ts'

export interface SetUpTelegramDeps extends OpenSetupDeps, BotDeps {
  bots: BotProvider
  log: Logger
}

interface NewBot {
  /** Telegram's id of it. */
  id: number
  address: string
  token: string
}

const taken = ({ address }: NewBot, isOurs: boolean) =>
  new AppError('conflict', isOurs ? `The agent has ${address} already.` : `The bot ${address} is another agent’s.`)

/** The agent has the bot already, but under a token that counts no more, or another name: the new one takes its place. Null when nobody has the bot. */
const renew = async (deps: SetUpTelegramDeps, tx: Prisma.TransactionClient, { agent }: Setup, bot: NewBot): Promise<true | null> => {
  const known = await tx.telegramBot.findUnique({ where: { botId: bot.id }, include: { address: true } })
  if (!known) return null
  if (known.address.agentId !== agent.id) throw taken(bot, false)
  const token = await openBotToken(deps, agent.workspaceId, known.addressId, known.token)
  if (token === bot.token && known.address.value === bot.address) throw taken(bot, true)
  await bringUpToDate(deps, tx, known, bot)
  return true
}

type Known = Prisma.TelegramBotGetPayload<{ include: { address: true } }>

const bringUpToDate = async (deps: SetUpTelegramDeps, tx: Prisma.TransactionClient, { addressId, address }: Known, bot: NewBot) => {
  await tx.address.update({ where: { id: addressId }, data: { value: bot.address } })
  const token = await sealBotToken(deps, address.workspaceId, addressId, bot.token)
  const { url, secretHash } = await deps.bots.connect(bot.token, addressId)
  await tx.telegramBot.update({ where: { addressId }, data: { token, secretHash, webhookUrl: url } })
}

/**
 * Gives the agent a bot. Telegram is told last, inside the transaction: a bot that somebody else has got meanwhile never has its webhook
 * moved, and one that Telegram refuses is not the agent's.
 */
const addBot = async (deps: SetUpTelegramDeps, tx: Prisma.TransactionClient, setup: Setup, bot: NewBot): Promise<void> => {
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

/** Telegram's page where the member makes the link's bot; null when this service has no manager bot, or it may not make any now. */
export const newBotLink = async ({ manager }: { manager: Pick<Manager, 'linkFor'> | null }, { suggestion, agent }: Setup) =>
  (suggestion && (await manager?.linkFor(suggestion, agent.name))) || null

/** The bot that was made under the name that a link suggested, once it is the agent's. */
export const findMadeBot = async ({ prisma }: Db, { suggestion, agent }: Setup): Promise<{ value: string } | null> =>
  suggestion === null ? null : prisma.address.findFirst({ where: { agentId: agent.id, channel: 'telegram', value: `@${suggestion}` } })

/** The Telegram ids that a member proved to be theirs. */
const idsOf = async (tx: Prisma.TransactionClient, member: Setup['member']): Promise<string[]> =>
  member ? (await tx.memberIdentity.findMany({ where: { memberId: member.id, channel: 'telegram' } })).map(({ value }) => value) : []

export interface TelegramBotMade {
  /** The bot's address. */
  value: string
  /** Opens the bot so that it gets to know the member's account; null when it knows it, or no member asked. */
  startUrl: string | null
}

const introduce = async ({ clock }: SetUpTelegramDeps, prisma: Prisma.TransactionClient, { member, agent }: Setup, address: string) =>
  member && startLink(address, (await newIdentityLink({ prisma, clock }, { memberId: member.id, agentId: agent.id })).code)

/**
 * Gives the agent of a set-up link the bot of a token that a member brought; they can wake the agent from the Telegram ids that they
 * proved to be theirs, or else from the account with which they open `startUrl`. Null when the link can't be used (any more). Throws `invalid_input` for a token that is no bot's, `conflict` for a
 * bot that an agent has or that Telegram doesn't connect, `unavailable` while Telegram can't be asked: the link stays good.
 */
export const setUpTelegramBot = async (deps: SetUpTelegramDeps, link: string, token: string): Promise<TelegramBotMade | null> => {
  const { id, address } = await deps.bots.identify(token)
  const bot = { id, address, token: token.trim() }
  return untilTaken(address, () =>
    redeem(deps, link, async (tx, setup) => {
      await addBot(deps, tx, setup, bot)
      const ids = await idsOf(tx, setup.member)
      await listSenders(tx, setup, ids)
      return { value: address, startUrl: ids.length > 0 ? null : await introduce(deps, tx, setup, address) }
    }),
  )
}

/** The open link that a bot was made for: the one that suggested its name, else the newest of the member whose Telegram account made it. */
const linkFor = async ({ prisma, clock }: SetUpTelegramDeps, { address, ownerId }: ManagedBot): Promise<{ id: string } | null> => {
  const open = { channel: 'telegram', usedAt: null, expiresAt: { gt: clock.now() } } as const
  const suggested = await prisma.setupLink.findFirst({ where: { ...open, suggestion: address.slice(1) } })
  if (suggested) return { id: suggested.id }
  const member = { identities: { some: { channel: 'telegram', value: String(ownerId) } } } as const
  const own = await prisma.setupLink.findFirst({ where: { ...open, member }, orderBy: { createdAt: 'desc' } })
  return own && { id: own.id }
}

/**
 * Takes on a bot that somebody made with the manager's link, or the new token and name of one that an agent has. Whoever made it can wake the
 * agent. May come twice; a bot that no open link waits for is nobody's. Throws what `BotProvider.connect` throws.
 */
export const adoptManagedBot = async (deps: SetUpTelegramDeps, bot: ManagedBot): Promise<void> => {
  const known = await deps.prisma.telegramBot.findUnique({ where: { botId: bot.id }, include: { address: true } })
  if (known) return deps.prisma.$transaction((tx) => bringUpToDate(deps, tx, known, bot), { timeout: 25_000 })
  const link = await linkFor(deps, bot)
  const added =
    link &&
    (await untilTaken(bot.address, () =>
      redeem(deps, link, async (tx, setup) => {
        await addBot(deps, tx, setup, bot)
        await listSenders(tx, setup, [...(await idsOf(tx, setup.member)), String(bot.ownerId)])
        return true
      }),
    ))
  deps.log.info({ bot: bot.id, added: added === true }, 'a managed bot was made')
}
