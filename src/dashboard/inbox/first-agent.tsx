import { lazy, Suspense, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { BotIcon, PlusIcon } from '../parts/icons.tsx'
import { Empty } from '../parts/states.tsx'
import { Page } from '../screen/page.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'

const NewAgent = lazy(async () => ({ default: (await import('../agents/new-agent.tsx')).NewAgent }))

/** What a workspace without agents shows first. */
export const FirstAgent = ({ title }: { title: string }) => {
  const { may } = useViewer()
  const [creating, setCreating] = useState(false)
  return (
    <Page title={title}>
      <Empty icon={BotIcon} title={text.firstTitle}>
        <p>{text.firstHint}</p>
        {may.createAgents && (
          <Button kind="primary" icon={PlusIcon} onClick={() => setCreating(true)}>
            {text.first}
          </Button>
        )}
      </Empty>
      {creating && (
        <Suspense>
          <NewAgent onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </Page>
  )
}
