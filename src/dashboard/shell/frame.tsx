import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { IconButton } from '../parts/button.tsx'
import { useModal } from '../parts/dialog/modal.ts'
import { MenuIcon, SearchIcon, XIcon } from '../parts/icons.tsx'
import { type Binding, useKeys } from '../screen/keys.ts'
import { useViewer } from '../screen/viewer.tsx'
import { CommandMenu } from './command-menu.tsx'
import { KeyHelp } from './key-help.tsx'
import { DESTINATIONS } from './navigation.ts'
import { Arrivals, NotLive } from './notice.tsx'
import { Notifications } from './notifications.tsx'
import { Sidebar } from './sidebar.tsx'
import { text } from './strings.ts'
import { Toasts } from './toasts.tsx'

/** The sidebar on narrow screens, over the page. */
const Drawer = ({ onClose, children }: { onClose(): void; children: ReactNode }) => {
  const modal = useModal(onClose)
  const [path] = useLocation()
  const opened = useRef(path)
  useEffect(() => {
    if (path !== opened.current) onClose()
  }, [path, onClose])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same, by the browser
    <dialog
      {...modal}
      className="drawer"
      aria-label={text.navigation}
      onClick={(event) => {
        modal.onClick(event)
        if (event.target instanceof Element && event.target.closest('a')) onClose()
      }}
    >
      <IconButton icon={XIcon} label={text.closeMenu} onClick={onClose} />
      {children}
    </dialog>
  )
}

type Opened = 'commands' | 'drawer' | 'keys' | null

const useFrameKeys = (open: (what: Opened) => void): void => {
  const [, go] = useLocation()
  useKeys([
    ...DESTINATIONS.map(
      ({ href, label, keys }): Binding => ({ keys, label, group: 'go', run: () => go(href) }),
    ),
    { keys: 'mod+k', label: text.commands, group: 'any', inFields: true, run: () => open('commands') },
    { keys: '?', label: text.keysHelp, group: 'any', run: () => open('keys') },
  ])
}

/** What stands around every screen. */
export const Frame = ({ children }: { children: ReactNode }) => {
  const [opened, setOpened] = useState<Opened>(null)
  const { workspace } = useViewer()
  useFrameKeys(setOpened)
  const close = () => setOpened(null)
  const sidebar = <Sidebar onCommands={() => setOpened('commands')} onKeys={() => setOpened('keys')} />
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {text.skip}
      </a>
      <aside className="frame-side">{sidebar}</aside>
      <header className="frame-top">
        <IconButton icon={MenuIcon} label={text.openMenu} onClick={() => setOpened('drawer')} />
        <span>{workspace.name}</span>
        <IconButton icon={SearchIcon} label={text.jump} onClick={() => setOpened('commands')} />
      </header>
      <div className="frame-main">
        <NotLive />
        <main id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
      <Arrivals />
      <Toasts />
      <Notifications />
      {opened === 'drawer' && <Drawer onClose={close}>{sidebar}</Drawer>}
      {opened === 'commands' && <CommandMenu onClose={close} />}
      {opened === 'keys' && <KeyHelp onClose={close} />}
    </div>
  )
}
