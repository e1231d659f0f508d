export { checkIssuer } from './company/issuer.ts'
export { endCompanySessions } from './company/logout.ts'
export {
  beginCompanySignIn,
  type CompanyDeps,
  endCompanySignIn,
  findCompany,
  hasCompanies,
} from './company/sign-in.ts'
export {
  authenticateCredential,
  type Credential,
  type CredentialDeps,
  checkOrigin,
  credentialOf,
  isOwnOrigin,
} from './credential.ts'
export { EmailLinks } from './email-links.ts'
export type { ClientIdentity } from './oauth/client-metadata.ts'
export {
  type ConnectedApp,
  type ConnectedAppDeps,
  disconnectApp,
  listApps,
  pruneApps,
} from './oauth/connected-app.ts'
export type { ProviderDeps } from './oauth/provider.ts'
export { askedScopes, MCP_SCOPES, OAUTH_SCOPES, RESOURCE_METADATA, resourceOf } from './oauth/resource.ts'
export { RESUME, ROUTES } from './oauth/routes.ts'
export { createOperatorLink } from './operator-link.ts'
export { checkForm, findPageViewer, opensMailedLink, type PageViewer } from './page-viewer.ts'
export {
  addPasskey,
  listPasskeys,
  type PublicPasskey,
  passkeyOptions,
  removePasskey,
} from './passkey.ts'
export { signInByPasskey, signInOptions } from './passkey-sign-in.ts'
export { returnPath, signInPath } from './return-path.ts'
export { listSessions, type PublicSession, revokeSession, revokeSessions } from './session.ts'
export { type SignInDeps, signIn, signInByToken, signOut } from './sign-in.ts'
export { pruneSignInLinks, signInByLink } from './sign-in-link.ts'
