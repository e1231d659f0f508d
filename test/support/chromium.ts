import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Debian's headless shell first: without a user interface, it takes a third less CPU. */
export const CHROMIUM = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync)
/**
 * Chromium does not run in its sandbox as root, and pages of one context share a process; without the other flags it
 * contacts its vendor's hosts.
 */
const FLAGS = [
  '--no-sandbox',
  '--process-per-site',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const launchChromium = async (): Promise<Browser> => {
  if (!CHROMIUM) throw new Error('Chromium is not installed (apt-get install chromium-headless-shell)')
  const options = { executablePath: CHROMIUM, args: FLAGS }
  // Rarely, Chromium ends right after its start.
  return chromium.launch(options).catch(() => chromium.launch(options))
}
