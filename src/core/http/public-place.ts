const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/

/** What signing in depends on in PUBLIC_URL. */
export interface PublicPlace {
  /** The only origin whose pages may use a session. */
  origin: string
  /** Part of the cookies' names, because browsers send the cookies of one port to all others of a host. */
  port: string
  /** Whether it is plain http on this machine. */
  plainLoopback: boolean
  /** Whether browsers accept cookies for it: https, or this machine. */
  canSignIn: boolean
}

export const publicPlace = (publicUrl: string): PublicPlace => {
  const { origin, protocol, hostname, port } = new URL(publicUrl)
  const secure = protocol === 'https:'
  const plainLoopback = !secure && LOOPBACK.test(hostname)
  return { origin, port: port || (secure ? '443' : '80'), plainLoopback, canSignIn: secure || plainLoopback }
}

/** Returns whether a Host header names this machine. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK.test(host.replace(/:\d+$/, ''))
