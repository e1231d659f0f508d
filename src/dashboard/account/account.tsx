import { useLive } from '../live/use.ts'
import { Load } from '../parts/states.tsx'
import { Page } from '../screen/page.tsx'
import { Apps } from './apps.tsx'
import { Passkeys } from './passkeys.tsx'
import { Profile } from './profile.tsx'
import { ACCOUNT } from './query.ts'
import { Sessions } from './sessions.tsx'
import { text } from './strings.ts'
import { Tokens } from './tokens.tsx'

/** The member who is signed in: their name, sessions, passkeys, tokens, and the apps they have connected. */
export const Screen = () => (
  <Page title={text.title}>
    <Load from={useLive(ACCOUNT, {}, ['members', 'tokens'])} lines={8}>
      {({ viewer, service }) => (
        <>
          <Profile viewer={viewer} />
          <Sessions sessions={viewer.sessions} memberId={viewer.id} />
          <Passkeys passkeys={viewer.passkeys} />
          <Tokens tokens={viewer.tokens} publicUrl={service.publicUrl} />
          <Apps apps={viewer.workspace.connectedApps} />
        </>
      )}
    </Load>
  </Page>
)
