import { Suspense } from 'react'
import { useParams } from 'wouter'
import { Loading } from '../parts/states.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Missing } from '../screen/missing.tsx'
import { Page } from '../screen/page.tsx'
import { text } from './strings.ts'
import { WORKSPACE_TABS } from './tabs.ts'

const TABS = WORKSPACE_TABS.map(({ path, label }) => ({
  href: path ? `/workspace/${path}` : '/workspace',
  label,
}))

/** The workspace: its tabs, and the screen of the chosen one. */
export const Screen = () => {
  const { tab = '' } = useParams<{ tab?: string }>()
  const chosen = WORKSPACE_TABS.find(({ path }) => path === tab)
  if (!chosen) return <Missing />
  return (
    <Page title={text.title} below={<Tabs label={text.tabs} tabs={TABS} />}>
      <Suspense fallback={<Loading />}>
        <chosen.Screen />
      </Suspense>
    </Page>
  )
}
