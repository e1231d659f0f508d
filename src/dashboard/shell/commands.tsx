import { type ReactNode, useLayoutEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { AgentIcon } from '../parts/agent-icon.tsx'
import {
  ActivityIcon,
  BookmarkIcon,
  ChevronRightIcon,
  type Icon,
  SearchIcon,
  SettingsIcon,
  ZapIcon,
} from '../parts/icons.tsx'
import { RECENT_COMMANDS } from '../parts/kept.ts'
import { chooseLanguage, LANGUAGES } from '../parts/language.ts'
import { setListing, useListing } from '../parts/listing.ts'
import { useBindings } from '../screen/keys.ts'
import { useAgents, useViewer } from '../screen/viewer.tsx'
import { useSignOut } from './account.tsx'
import { type Control, pressLater, readControls } from './controls.ts'
import { matchOf } from './find.ts'
import { DESTINATIONS } from './navigation.ts'
import { ACTIONS, type Place, placesOf, SETTINGS } from './places.ts'
import { text } from './strings.ts'
import { THEMES, useTheme } from './theme.ts'

const GROUPS = ['recent', 'page', 'do', 'go', 'agents', 'settings', 'search'] as const
export type CommandGroup = (typeof GROUPS)[number]

export interface Command {
  /** Names it among what was run recently; the things of a page have none that lasts. */
  id: string
  group: CommandGroup
  label: string
  /** What it belongs to, which is searched as well. */
  context?: string
  icon: ReactNode
  keys?: string
  run(): void
}

const MOST_RECENT = 5

const recent = (): string[] => (localStorage.getItem(RECENT_COMMANDS) ?? '').split('\n').filter(Boolean)

/** Notes that a command was run. What a page shows may be private, and is not kept on the device. */
export const noteRun = ({ id, group }: Command): void => {
  if (group === 'page' || group === 'search') return
  const ids = [id, ...recent().filter((one) => one !== id)].slice(0, MOST_RECENT)
  localStorage.setItem(RECENT_COMMANDS, ids.join('\n'))
}

const isNew = ({ label, context }: Control, before: readonly { label: string }[]): boolean =>
  context !== '' || before.every((one) => one.label !== label)

/** What can be done on the present screen: its keys, and all that can be pressed. */
const usePageCommands = (others: readonly Command[]): Command[] => {
  const bindings = useBindings()
  const listing = useListing()
  const [controls, setControls] = useState<readonly Control[]>([])
  useLayoutEffect(() => {
    setListing(true)
    return () => setListing(false)
  }, [])
  // By then, menus have put what they contain into the page.
  useLayoutEffect(() => {
    if (listing) setControls(readControls())
  }, [listing])
  const icon = <ChevronRightIcon />
  const keyed = bindings
    .filter(({ group, keys }) => group !== 'go' && keys !== 'mod+k')
    .map(({ keys, label, run }): Command => ({ id: keys, group: 'page', label, icon, keys, run }))
  const pressed = controls
    .filter((control) => isNew(control, [...keyed, ...others]))
    .map((control, index): Command => ({ ...control, id: `page ${index}`, group: 'page', icon }))
  return [...keyed, ...pressed]
}

const useAccountCommands = (): Command[] => {
  const [, setTheme] = useTheme()
  const { signOut } = useSignOut()
  const command = (label: string, run: () => void, context?: string): Command => ({
    id: `account ${label}`,
    group: 'settings',
    label,
    ...(context ? { context } : {}),
    icon: <SettingsIcon />,
    run,
  })
  return [
    ...THEMES.map((theme) => command(text.themes[theme], () => setTheme(theme), text.theme)),
    ...(['system', ...LANGUAGES] as const).map((one) =>
      command(text.languages[one], () => chooseLanguage(one), text.language),
    ),
    command(text.docs, () => location.assign('/docs')),
    command(text.signOut, () => void signOut()),
  ]
}

/** What leads somewhere, from anywhere. */
const usePlaceCommands = (): Command[] => {
  const [, go] = useLocation()
  const agents = useAgents()
  const { may, views } = useViewer()
  return useMemo(() => {
    const command = (group: CommandGroup, Shape: Icon, place: Place, context?: string): Command => ({
      id: `${place.href} ${place.control ?? ''}`.trim(),
      group,
      label: place.label,
      ...(context ? { context } : {}),
      icon: <Shape />,
      run: () => {
        if (place.control) pressLater(place.href, place.control)
        go(place.href)
      },
    })
    const allowed = ({ right }: Place) => !right || may[right]
    return [
      ...ACTIONS.filter(allowed).map((place) => command('do', ZapIcon, place)),
      ...DESTINATIONS.map(({ icon, keys, ...place }) => ({ ...command('go', icon, place), keys })),
      ...views.map(({ name, path }) => command('go', BookmarkIcon, { href: path, label: name })),
      ...agents.map(
        ({ id, name, icon }): Command => ({
          id,
          group: 'agents',
          label: name,
          icon: <AgentIcon name={icon} />,
          run: () => go(`/inbox?agent=${id}`),
        }),
      ),
      ...SETTINGS.map((place) => command('settings', SettingsIcon, place)),
      ...agents.flatMap(({ id, name }) =>
        placesOf(id)
          .filter(allowed)
          .map((place) => command('settings', SettingsIcon, place, name)),
      ),
    ]
  }, [agents, go, may, views])
}

/** Most that a group shows; more words find what is not shown. */
const MOST = { idle: 12, typed: 20 }

const grouped = (commands: readonly Command[], most: number): Command[] =>
  [...new Set(commands.map(({ group }) => group))].flatMap((group) =>
    commands.filter((one) => one.group === group).slice(0, most),
  )

/** Without words: what was run last, what can be done here, and where one can go. */
const idle = (all: readonly Command[]): Command[] => {
  const last = recent().flatMap((id) => all.find((one) => one.id === id) ?? [])
  const others = all.filter((one) => one.group !== 'settings' && !last.includes(one))
  const ordered = GROUPS.flatMap((group) => others.filter((one) => one.group === group))
  return grouped([...last.map((one): Command => ({ ...one, group: 'recent' })), ...ordered], MOST.idle)
}

/** With words: the best first, in the group of the best one first. */
const found = (all: readonly Command[], typed: string): Command[] => {
  const known = recent()
  const scored = all
    .map((command) => {
      const match = matchOf(typed, command.label, command.context)
      return { command, score: match && match + (known.includes(command.id) ? 1 : 0) }
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
  return grouped(
    scored.map(({ command }) => command),
    MOST.typed,
  )
}

/** An address, a Message-ID, a phone number or an id. */
const TRACEABLE = /^<?\S+@\S+$|^\+\d{5,}$|^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** All commands that match, best first, those of a group after each other. */
export const useCommands = (typed: string): Command[] => {
  const [, go] = useLocation()
  const places = usePlaceCommands()
  const done = places.filter(({ group }) => group === 'do')
  const all = [...usePageCommands(done), ...places, ...useAccountCommands()]
  const words = typed.trim()
  if (words === '') return idle(all)
  const search: Command = {
    id: 'search',
    group: 'search',
    label: text.searchFor(words),
    icon: <SearchIcon />,
    run: () => go(`/inbox?q=${encodeURIComponent(words)}`),
  }
  const trace: Command = {
    id: 'trace',
    group: 'search',
    label: text.traceOf(words),
    icon: <ActivityIcon />,
    run: () => go(`/health/trace?of=${encodeURIComponent(words)}`),
  }
  return [...found(all, words), search, ...(TRACEABLE.test(words) ? [trace] : [])]
}
