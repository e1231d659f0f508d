import { Link, useLocation, useSearchParams } from 'wouter'
import { SavedViews } from '../inbox/saved-views.tsx'
import { useLiveStatus } from '../live/status.ts'
import { AgentIcon } from '../parts/agent-icon.tsx'
import { SearchIcon } from '../parts/icons.tsx'
import { useAgents, useViewer, useWaitingCount } from '../screen/viewer.tsx'
import { Account } from './account.tsx'
import { Keys } from './key-help.tsx'
import { DESTINATIONS } from './navigation.ts'
import { text } from './strings.ts'

const Live = () => {
  const { state } = useLiveStatus()
  return (
    <p className={`live is-${state}`} title={state === 'live' ? text.live : text.connecting}>
      <span className="live-dot" />
      <span>{state === 'live' ? text.live : text.connecting}</span>
    </p>
  )
}

const Count = ({ count, label }: { count: number; label: string }) =>
  count > 0 && (
    <span className="count">
      <span aria-hidden="true">{count > 999 ? '999+' : count}</span>
      <span className="unseen">{label}</span>
    </span>
  )

const Agents = () => {
  const agents = useAgents()
  const [path] = useLocation()
  const [search] = useSearchParams()
  const chosen = path.startsWith('/inbox') ? search.get('agent') : null
  if (agents.length === 0) return null
  return (
    <>
      <h2 id="sidebar-agents">{text.agents}</h2>
      <ul aria-labelledby="sidebar-agents" className="sidebar-agents">
        {agents.map(({ id, name, icon, unreadCount }) => (
          <li key={id}>
            <Link
              href={`/inbox?agent=${id}`}
              className="sidebar-link"
              aria-current={id === chosen ? 'page' : undefined}
            >
              <AgentIcon name={icon} />
              <span>{name}</span>
              <Count count={unreadCount} label={text.unread(unreadCount)} />
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}

interface SidebarProps {
  onCommands(): void
  onKeys(): void
}

export const Sidebar = ({ onCommands, onKeys }: SidebarProps) => {
  const { workspace } = useViewer()
  const agents = useAgents()
  const [path] = useLocation()
  const [search] = useSearchParams()
  const waiting = useWaitingCount()
  const unread = agents.reduce((sum, agent) => sum + agent.unreadCount, 0)
  return (
    <div className="sidebar">
      <p className="sidebar-workspace">
        <span className="mark" aria-hidden="true">
          {workspace.name.slice(0, 1).toUpperCase()}
        </span>
        <span>{workspace.name}</span>
      </p>
      <button type="button" className="jump" onClick={onCommands}>
        <SearchIcon />
        <span>{text.jump}</span>
        <Keys keys="mod+k" />
      </button>
      <nav aria-label={text.navigation}>
        <ul>
          {DESTINATIONS.map(({ href, label, icon: Shape }) => {
            const here = path === href || path.startsWith(`${href}/`)
            return (
              <li key={href}>
                <Link
                  href={href}
                  className="sidebar-link"
                  aria-current={here && !search.get('agent') ? 'page' : undefined}
                >
                  <Shape />
                  <span>{label}</span>
                  {href === '/inbox' && <Count count={unread} label={text.unread(unread)} />}
                  {href === '/waiting' && <Count count={waiting} label={text.toDecide(waiting)} />}
                </Link>
                {href === '/inbox' && <SavedViews />}
              </li>
            )
          })}
        </ul>
        <Agents />
      </nav>
      <div className="sidebar-foot">
        <Account onKeys={onKeys} />
        <Live />
      </div>
    </div>
  )
}
