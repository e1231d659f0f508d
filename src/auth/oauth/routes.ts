/** Endpoints of the authorization server, below PUBLIC_URL. */
export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  jwks: '/oauth/jwks',
} as const

/** The cookie in which the library expects the id of the request that goes on; no browser ever gets it. */
export const RESUME = 'resume'
