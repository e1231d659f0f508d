import { useSyncExternalStore } from 'react'

/** Notifications of the browser: a setting of this device, off until somebody switches them on. */

const KEY = 'ams-notifications'

export type NotificationState = 'denied' | 'off' | 'on' | 'unsupported'

const stateOf = (): NotificationState => {
  if (!('Notification' in window)) return 'unsupported'
  if (Notification.permission === 'denied') return 'denied'
  return Notification.permission === 'granted' && localStorage.getItem(KEY) === 'on' ? 'on' : 'off'
}

const watchers = new Set<() => void>()

const watch = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  // Another tab has switched them.
  addEventListener('storage', watcher)
  return () => {
    watchers.delete(watcher)
    removeEventListener('storage', watcher)
  }
}

export const useNotificationState = (): NotificationState => useSyncExternalStore(watch, stateOf)

/** Switches them, and asks for the permission if there is none. Resolves to whether it was done. */
export const switchNotifications = async (on: boolean): Promise<boolean> => {
  if (on && (await Notification.requestPermission()) !== 'granted') {
    for (const watcher of watchers) watcher()
    return false
  }
  localStorage.setItem(KEY, on ? 'on' : 'off')
  for (const watcher of watchers) watcher()
  return true
}
