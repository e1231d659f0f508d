import {
  ActivityIcon,
  BotIcon,
  ClockIcon,
  HouseIcon,
  type Icon,
  InboxIcon,
  PencilIcon,
  SendIcon,
  SettingsIcon,
} from '../parts/icons.tsx'
import { text } from './strings.ts'

export interface Destination {
  href: string
  label: string
  icon: Icon
  /** Two keys that lead there. */
  keys: string
}

/** What the sidebar and the command menu lead to, in this order. */
export const DESTINATIONS: readonly Destination[] = [
  { href: '/home', label: text.goHome, icon: HouseIcon, keys: 'g h' },
  { href: '/inbox', label: text.goInbox, icon: InboxIcon, keys: 'g i' },
  { href: '/waiting', label: text.goWaiting, icon: ClockIcon, keys: 'g w' },
  { href: '/drafts', label: text.goDrafts, icon: PencilIcon, keys: 'g d' },
  { href: '/outbox', label: text.goOutbox, icon: SendIcon, keys: 'g o' },
  { href: '/health', label: text.goHealth, icon: ActivityIcon, keys: 'g y' },
  { href: '/agents', label: text.goAgents, icon: BotIcon, keys: 'g a' },
  { href: '/workspace', label: text.goWorkspace, icon: SettingsIcon, keys: 'g s' },
]
