import { graphql } from '../live/graphql.ts'
import type { introspection_types } from '../live/schema.d.ts'
import type { Language } from '../parts/language.ts'

/** All that the application says about single channels, in both languages: a new one is added to this file alone. */

export type Channel = introspection_types['AddressChannel']['enumValues']

interface Words {
  name: string
  /** What an agent gets that is reached by it. */
  add: string
  /** What happens when an agent's address is removed. */
  removeHint: string
  /** An entry of a list of senders. */
  example: string
}

const FACTS: Readonly<
  Record<Channel, Readonly<Record<Language, Words>> & { icon: 'chat' | 'phone' | null }>
> = {
  email: {
    icon: null,
    en: {
      name: 'Email',
      add: 'An email address on your domain',
      removeHint: 'Mail to it will be refused.',
      example: 'ann@example.com or *@example.com',
    },
    de: {
      name: 'E-Mail',
      add: 'Eine E-Mail-Adresse auf Ihrer Domain',
      removeHint: 'E-Mails an sie werden abgewiesen.',
      example: 'anna@example.com oder *@example.com',
    },
  },
  sms: {
    icon: 'phone',
    en: {
      name: 'SMS',
      add: 'A phone number',
      removeHint:
        'Messages to it will no longer reach the agent. The workspace keeps the number for its next agent.',
      example: '+15551234567',
    },
    de: {
      name: 'SMS',
      add: 'Eine Telefonnummer',
      removeHint:
        'Nachrichten an sie erreichen den Agenten nicht mehr. Der Arbeitsbereich behält die Nummer für seinen nächsten Agenten.',
      example: '+4915112345678',
    },
  },
  telegram: {
    icon: 'chat',
    en: {
      name: 'Telegram',
      add: 'A Telegram bot',
      removeHint: 'The bot stops sending its messages to the service.',
      example: 'A user id, or @username',
    },
    de: {
      name: 'Telegram',
      add: 'Ein Telegram-Bot',
      removeHint: 'Der Bot gibt seine Nachrichten nicht mehr an den Dienst weiter.',
      example: 'Eine Benutzer-ID oder @name',
    },
  },
}

/** Who may write to an agent by each channel. */
export const ACCESS_BY_CHANNEL = graphql(`
  fragment AccessByChannel on AgentAccess {
    email { admit senders blocked }
    sms { admit senders blocked }
    telegram { admit senders blocked }
  }
`)

export const CHANNELS = Object.keys(FACTS) as readonly Channel[]

export const iconOf = (channel: Channel) => FACTS[channel].icon

export const wordsIn = (language: Language, channel: Channel): Words => FACTS[channel][language]
