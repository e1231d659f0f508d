import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Load } from '../parts/states.tsx'
import { Page } from '../shell/page.tsx'
import { Apps } from './apps.tsx'
import { Passkeys } from './passkeys.tsx'
import { Profile } from './profile.tsx'
import { Sessions } from './sessions.tsx'
import { text } from './strings.ts'
import { Tokens } from './tokens.tsx'

const ACCOUNT = graphql(`
  query Account {
    viewer {
      id name email
      sessions { id browser createdAt lastUsedAt current }
      passkeys { id name createdAt lastUsedAt }
      tokens { id name createdAt lastUsedAt }
      workspace {
        id
        members { id approvalMails }
        connectedApps { id name host agentName memberEmail lastUsedAt }
      }
    }
  }
`)

export type Viewer = ResultOf<typeof ACCOUNT>['viewer']

/** The member who is signed in: their name, sessions, passkeys, tokens, and the apps they have connected. */
export const Screen = () => (
  <Page title={text.title}>
    <Load from={useLive(ACCOUNT, {}, ['members', 'tokens'])} lines={8}>
      {({ viewer }) => (
        <>
          <Profile key={viewer.name} viewer={viewer} />
          <Sessions sessions={viewer.sessions} memberId={viewer.id} />
          <Passkeys passkeys={viewer.passkeys} />
          <Tokens tokens={viewer.tokens} />
          <Apps apps={viewer.workspace.connectedApps} />
        </>
      )}
    </Load>
  </Page>
)
