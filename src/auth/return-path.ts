/** The start page of a signed-in member. */
const HOME = '/app'

const MAX_LENGTH = 4_096
/** Only resolves paths; nothing is requested from it. */
const ANY_ORIGIN = 'http://service.invalid'

/**
 * Returns the path to open after signing in: the given one if it is an absolute path of this service, else the
 * start page. Browsers read `//host`, `/\host` and paths with control characters as other hosts.
 */
export const returnPath = (path: string | null): string => {
  if (!path || path.length > MAX_LENGTH || !/^\/(?![/\\])[\x21-\x7e]*$/.test(path)) return HOME
  const url = new URL(path, ANY_ORIGIN)
  const resolved = url.pathname + url.search
  return url.origin === ANY_ORIGIN && !resolved.startsWith('//') ? resolved : HOME
}

/** Returns the path of the sign-in page, from which the member returns to `path`. */
export const signInPath = (path: string): string => {
  const to = returnPath(path)
  return to === HOME ? '/app/sign-in' : `/app/sign-in?to=${encodeURIComponent(to)}`
}
