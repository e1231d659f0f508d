/** Browsers by a part of their User-Agent; those that also name another one come first. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

const find = (list: readonly (readonly [RegExp, string])[], agent: string): string | undefined =>
  list.find(([pattern]) => pattern.test(agent))?.[1]

/**
 * Returns a browser in words, such as "Firefox on Linux", from its User-Agent, of which nothing is repeated:
 * the client chose it.
 */
export const browserOf = (userAgent: string | undefined): string => {
  const agent = userAgent?.slice(0, 500) ?? ''
  const browser = find(BROWSERS, agent)
  const system = find(SYSTEMS, agent)
  return `${browser ?? 'Unknown browser'}${system ? ` on ${system}` : ''}`
}
