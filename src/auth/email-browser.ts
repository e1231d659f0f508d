import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { readCookie, writeCookie } from '../core/http/cookie.ts'

/** A link to sign in is valid for 10 minutes, in browsers that asked for one to the same address as recently. */
export const LINK_MS = 10 * 60_000
/** How long a browser is known after its last sign-in by email. */
const KNOWN_MS = 365 * 24 * 3_600_000
/** Notes in a cookie: for someone with several addresses, or who mistyped one. */
const MAX_NOTES = 4

export interface BrowserDeps {
  clock: Clock
  challengeKey: Uint8Array
  publicUrl(): string
}

/** `asked`: a link was requested for an address. `known`: such a link was used. */
type Fact = 'asked' | 'known'
const LASTS: Record<Fact, number> = { asked: LINK_MS, known: KNOWN_MS }

/**
 * Notes in the browser's cookie, each with its fact, time and a signature over these and the address: what a browser
 * asked for is known without anything being stored for those who only ask, or looked up before they are answered.
 */
const NOTE = /^(asked|known)-([0-9a-z]{1,11})-([\w-]{43})$/

const signed = ({ challengeKey }: BrowserDeps, fact: Fact, time: string, address: string): string =>
  createHmac('sha256', challengeKey).update(`browser ${fact} ${time} ${address}`).digest('base64url')

const notesOf = (deps: BrowserDeps, request: IncomingMessage): string[] =>
  (readCookie(deps.publicUrl(), request, 'browser') ?? '')
    .split('.')
    .slice(0, MAX_NOTES)
    .filter((note) => NOTE.test(note))

/** Returns the note with which the browser of a request proves a fact about an address; undefined if it has none. */
export const noteOf = (
  deps: BrowserDeps,
  request: IncomingMessage,
  fact: Fact,
  address: string,
): string | undefined =>
  notesOf(deps, request).find((note) => {
    const [, kind, time = '', signature = ''] = NOTE.exec(note) ?? []
    const age = deps.clock.now().getTime() - Number.parseInt(time, 36)
    const expected = Buffer.from(signed(deps, fact, time, address))
    return kind === fact && age <= LASTS[fact] && timingSafeEqual(Buffer.from(signature), expected)
  })

/** Returns a cookie's new value, and the Set-Cookie header with which the browser notes a fact about an address. */
export const noteInBrowser = (
  deps: BrowserDeps,
  request: IncomingMessage,
  fact: Fact,
  address: string,
): { value: string; cookie: string } => {
  const time = deps.clock.now().getTime().toString(36)
  const same = noteOf(deps, request, fact, address)
  const others = notesOf(deps, request).filter((note) => note !== same)
  const value = [`${fact}-${time}-${signed(deps, fact, time, address)}`, ...others]
    .slice(0, MAX_NOTES)
    .join('.')
  const kept = { value, seconds: KNOWN_MS / 1000 }
  return { value, cookie: writeCookie(deps.publicUrl(), request, 'browser', kept) }
}
