import { Link, useLocation, useSearchParams } from 'wouter'
import { BookmarkIcon } from '../parts/icons.tsx'
import { useViewer } from '../screen/viewer.tsx'

/** The member's saved searches, for the sidebar. */
export const SavedViews = () => {
  const { views } = useViewer()
  const [path] = useLocation()
  const [search] = useSearchParams()
  if (views.length === 0) return null
  const here = path.startsWith('/inbox') && `/inbox?${search}`
  return (
    <ul className="saved-views">
      {views.map(({ name, path: href }) => (
        <li key={href}>
          <Link href={href} className="sidebar-link" aria-current={href === here ? 'page' : undefined}>
            <BookmarkIcon />
            <span>{name}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
