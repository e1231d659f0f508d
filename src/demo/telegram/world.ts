import { randomBytes } from 'node:crypto'
import type { Chat, Message, Update, User } from '@grammyjs/types'

/** An in-memory model of Telegram: people, bots, groups, and their messages. */

export interface StandInBot {
  user: User
  token: string
  canManage: boolean
  /** The bot that manages it; null for one that its owner created with BotFather. */
  manager: StandInBot | null
  webhook: { url: string; secret: string | undefined; allowed: readonly string[] } | null
  /** Updates that have not been accepted yet, oldest first. */
  updates: Update[]
  /** Chats that it may write to: people who wrote to it, and groups that it is in. */
  chats: Set<number>
  blockedBy: Set<number>
}

export interface StoredFile {
  path: string
  content: Buffer
}

export interface Sent {
  bot: StandInBot
  message: Message
  /** The file that it contains. */
  file: StoredFile | null
}

const firstIds = { user: 100_000_001, bot: 7_000_000_001, group: -1_001_000_000_001, update: 500_000_001 }

export class World {
  readonly bots = new Map<number, StandInBot>()
  readonly files = new Map<string, StoredFile>()
  /** By `chat/message`: messages that can be replied to. */
  readonly messages = new Map<string, Message>()
  /** What bots answered to taps on their buttons, in order. */
  readonly notices: string[] = []
  /** All messages sent by bots, in order. */
  readonly sent: Sent[] = []
  #users = firstIds.user
  #bots = firstIds.bot
  #groups = firstIds.group
  #updates = firstIds.update
  #messages = 1

  person(first_name: string, username?: string): User {
    return { id: this.#users++, is_bot: false, first_name, ...(username === undefined ? {} : { username }) }
  }

  group(title: string): Chat {
    return { id: this.#groups--, type: 'supergroup', title } as Chat
  }

  bot(
    username: string,
    { name = username, canManage = false, manager = null as StandInBot | null } = {},
  ): StandInBot {
    const user = { id: this.#bots++, is_bot: true, first_name: name, username } as User
    const bot: StandInBot = {
      user,
      token: '',
      canManage,
      manager,
      webhook: null,
      updates: [],
      chats: new Set(),
      blockedBy: new Set(),
    }
    this.retoken(bot)
    this.bots.set(user.id, bot)
    return bot
  }

  /** Gives the bot a new token; the previous one becomes invalid. */
  retoken(bot: StandInBot): string {
    bot.token = `${bot.user.id}:${randomBytes(26).toString('base64url')}`
    return bot.token
  }

  byToken(token: string): StandInBot | undefined {
    return [...this.bots.values()].find((bot) => bot.token === token)
  }

  /** Creates a message with the next id, and stores it so that it can be replied to. */
  write(chat: Chat, from: User, content: object): Message {
    const message = {
      message_id: this.#messages++,
      date: Math.floor(Date.now() / 1000),
      chat,
      from,
      ...content,
    } as Message
    this.messages.set(`${chat.id}/${message.message_id}`, message)
    return message
  }

  file(name: string, content: Buffer): { file_id: string; file_unique_id: string; file_size: number } {
    const id = randomBytes(12).toString('base64url')
    this.files.set(id, { path: `files/${id}/${name}`, content })
    return { file_id: id, file_unique_id: id, file_size: content.length }
  }

  queue(bot: StandInBot, update: Omit<Update, 'update_id'>): Update {
    const queued = { update_id: this.#updates++, ...update } as Update
    bot.updates.push(queued)
    return queued
  }
}
