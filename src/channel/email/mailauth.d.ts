// mailauth 4.13.3 types its main entry only.
declare module 'mailauth/lib/tools.js' {
  /** The first entry that shares its organizational domain with `fromDomain` (RFC 7489 3.1), or false. */
  export function getAlignment(fromDomain: string, domains: string[], strict?: boolean): { domain: string } | false
}
