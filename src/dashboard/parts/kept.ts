/**
 * Words that were typed and not sent, kept on this device until they are sent or discarded, or the member signs
 * out: they survive a reload, a crash and the end of a session. Bounded in number and age.
 */
const PREFIX = 'ams-kept:'
const MOST = 200
const MOST_MS = 30 * 86_400_000

/** After the member has signed out, forms that are still shown keep nothing more. */
let hasEnded = false

export interface Kept {
  /** When it was last changed, in milliseconds since 1970. */
  at: number
}

/** The names of what is kept begin with the workspace and the member, whose words others do not get to see. */
export const keptOf = (viewer: { id: string; workspace: { id: string } }, ...place: string[]): string =>
  [viewer.workspace.id, viewer.id, ...place].join(':')

const names = (owner = ''): string[] =>
  Object.keys(localStorage).filter((name) => name.startsWith(PREFIX + owner))

const parsed = <Value extends Kept>(written: string | null): Value | null => {
  try {
    const value = JSON.parse(written ?? 'null') as Value | null
    return value && Date.now() - value.at < MOST_MS ? value : null
  } catch {
    return null
  }
}

export const readKept = <Value extends Kept>(name: string): Value | null =>
  parsed(localStorage.getItem(PREFIX + name))

export const dropKept = (name: string): void => localStorage.removeItem(PREFIX + name)

/** What is kept under names that begin so. */
export const listKept = <Value extends Kept>(start: string): [name: string, value: Value][] =>
  names(start).flatMap((name) => {
    const value = parsed<Value>(localStorage.getItem(name))
    return value ? [[name.slice(PREFIX.length), value] as [string, Value]] : []
  })

/** Removes what is too old and, of the rest, the oldest above `most`. */
const prune = (most: number): void => {
  const newestFirst = names()
    .map((name) => ({ name, at: parsed(localStorage.getItem(name))?.at ?? 0 }))
    .sort((a, b) => b.at - a.at)
  for (const [index, { name, at }] of newestFirst.entries())
    if (at === 0 || index >= most) localStorage.removeItem(name)
}

/** Keeps a value. Returns false if the browser has no room for it, even without older ones. */
export const keep = (name: string, value: Kept): boolean => {
  if (hasEnded) return false
  const isNew = localStorage.getItem(PREFIX + name) === null
  if (isNew) prune(MOST - 1)
  for (let most = MOST; most >= 1; most = Math.floor(most / 2)) {
    try {
      localStorage.setItem(PREFIX + name, JSON.stringify(value))
      return true
    } catch {
      prune(most / 2)
    }
  }
  return false
}

/** Calls `heard` when another tab keeps something else under a name; null when it is kept no longer. */
export const onKept = <Value extends Kept>(
  name: string,
  heard: (value: Value | null) => void,
): (() => void) => {
  const listen = ({ key, newValue }: StorageEvent): void => {
    if (key === PREFIX + name) heard(parsed(newValue))
  }
  addEventListener('storage', listen)
  return () => removeEventListener('storage', listen)
}

type Leaving = () => Promise<unknown>
const leaving = new Set<Leaving>()

/** `save` runs before the member signs out. */
export const beforeSignOut = (save: Leaving): (() => void) => {
  leaving.add(save)
  return () => leaving.delete(save)
}

/** Saves on the service what can be, before the member signs out. */
export const saveAllKept = async (): Promise<void> => {
  await Promise.allSettled([...leaving].map((save) => save()))
}

/** What was run last, saved searches with their words among it, and as which agent somebody wrote last. */
export const [RECENT_COMMANDS, LAST_AGENT] = ['ams-recent-commands', 'ams-writes-as']

/** Where the contents of attached files are kept. */
export const FILES_DATABASE = 'ams-kept-files'

/** Forgets all words of a member on this device, who has signed out, and what they did here. */
export const dropAllKept = (viewer: Parameters<typeof keptOf>[0]): void => {
  hasEnded = true
  const owner = keptOf(viewer)
  for (const name of [...names(owner), RECENT_COMMANDS, LAST_AGENT]) localStorage.removeItem(name)
  const opening = indexedDB.open(FILES_DATABASE)
  opening.onsuccess = () => {
    const database = opening.result
    for (const store of database.objectStoreNames)
      database
        .transaction(store, 'readwrite')
        .objectStore(store)
        .delete(IDBKeyRange.bound(owner, `${owner}\uffff`))
    database.close()
  }
}
