import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { NewToken } from '../tokens/new-token.tsx'
import { MEMBER_SCOPES } from '../tokens/scopes.tsx'
import { TokenPanel } from '../tokens/token-panel.tsx'
import type { Viewer } from './query.ts'
import { text } from './strings.ts'

const CREATE = graphql(`
  mutation CreateOwnToken($input: CreateOwnTokenInput!) { createOwnToken(input: $input) { token record { id } } }
`)

const REVOKE = graphql(`
  mutation RevokeOwnToken($input: RevokeOwnTokenInput!) { revokeOwnToken(input: $input) { tokenId } }
`)

const snippetsOf = (publicUrl: string) => (token: string) => [
  { name: 'curl', code: `curl ${publicUrl}/agents -H "Authorization: Bearer ${token}"` },
  { name: 'ams', code: `export AMS_URL=${publicUrl} AMS_TOKEN=${token}\nams whoami` },
]

const NewOwnToken = ({ publicUrl, onClose }: { publicUrl: string; onClose(): void }) => {
  const { run, ...state } = useAction(CREATE, { quiet: true, changes: { topic: 'all' } })
  return (
    <NewToken
      {...state}
      possible={MEMBER_SCOPES}
      snippets={snippetsOf(publicUrl)}
      onClose={onClose}
      create={async (input) => {
        const made = await run({ input })
        return made?.createOwnToken?.token ?? null
      }}
    />
  )
}

/** The member's own tokens. */
export const Tokens = ({ tokens, publicUrl }: Pick<Viewer, 'tokens'> & { publicUrl: string }) => {
  const { run } = useAction(REVOKE, { changes: { topic: 'all' } })
  return (
    <TokenPanel
      words={{ title: text.tokens, hint: text.tokensHint, list: text.tokenList }}
      tokens={tokens}
      revokeHint={() => text.revokeHint}
      revoke={(tokenId) => run({ input: { tokenId } })}
      form={(close) => <NewOwnToken publicUrl={publicUrl} onClose={close} />}
    />
  )
}
