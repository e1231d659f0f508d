import { useClient } from 'urql'
import { graphql } from '../live/graphql.ts'
import { askToSignIn } from '../live/sign-in.ts'
import { useAction } from '../live/use.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { Choices } from '../parts/choices.tsx'
import { FileTextIcon, KeyboardIcon, LogOutIcon, ShieldCheckIcon, UserRoundIcon } from '../parts/icons.tsx'
import { dropAllKept, saveAllKept } from '../parts/kept.ts'
import { chooseLanguage, chosenLanguage } from '../parts/language.ts'
import { Menu } from '../parts/menu.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'
import { useTheme } from './theme.ts'

const SESSIONS = graphql(`query OwnSessions { viewer { sessions { id current } } }`)

const END = graphql(`
  mutation SignOut($sessionId: UUID!) { revokeSession(input: { sessionId: $sessionId }) { sessionId } }
`)

export const useSignOut = () => {
  const client = useClient()
  const { run, busy } = useAction(END)
  const viewer = useViewer()
  const signOut = async () => {
    await saveAllKept()
    const { data } = await client.query(SESSIONS, {}, { requestPolicy: 'network-only' }).toPromise()
    const current = data?.viewer.sessions.find((session) => session.current)
    if (!current || !(await run({ sessionId: current.id }))) return
    dropAllKept(viewer)
    askToSignIn()
  }
  return { signOut, busy }
}

const Preferences = () => {
  const [theme, setTheme] = useTheme()
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: choosing a theme leaves the menu open
    // biome-ignore lint/a11y/useKeyWithClickEvents: the choices inside are radio buttons
    <div onClick={(event) => event.stopPropagation()}>
      <Choices label={text.theme} options={text.themes} chosen={theme} onChoose={setTheme} />
      <Choices
        label={text.language}
        options={text.languages}
        chosen={chosenLanguage}
        onChoose={chooseLanguage}
      />
    </div>
  )
}

/** Who is signed in, and what concerns only them. */
export const Account = ({ onKeys }: { onKeys(): void }) => {
  const { name, email } = useViewer()
  const { signOut, busy } = useSignOut()
  const who = name ?? email ?? ''
  return (
    <Menu
      label={text.account}
      side="above"
      face={
        <>
          <UserRoundIcon />
          <span className="account-name">{who}</span>
        </>
      }
    >
      <p className="menu-note">{text.signedInAs(email ?? who)}</p>
      <Preferences />
      <Button kind="ghost" icon={KeyboardIcon} onClick={onKeys}>
        {text.keysHelp}
      </Button>
      <a className="button ghost" href="/docs">
        <FileTextIcon />
        {text.docs}
      </a>
      <LinkButton href="/profile" kind="ghost" icon={ShieldCheckIcon}>
        {text.profile}
      </LinkButton>
      <Button kind="ghost" icon={LogOutIcon} busy={busy} onClick={() => void signOut()}>
        {text.signOut}
      </Button>
    </Menu>
  )
}
