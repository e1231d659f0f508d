import { useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'

export interface Tab {
  href: string
  label: string
}

/** Screens that belong together, as links: each has its own address. */
export const Tabs = ({ label, tabs }: { label: string; tabs: readonly Tab[] }) => {
  const [path] = useLocation()
  const ref = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: on narrow screens, the chosen one may be out of sight
  useEffect(() => {
    const chosen = ref.current?.querySelector('[aria-current]')
    chosen?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [path])
  return (
    <nav ref={ref} className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.href} href={tab.href} aria-current={path === tab.href ? 'page' : undefined}>
          {tab.label}
        </Link>
      ))}
    </nav>
  )
}
