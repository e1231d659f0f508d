import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** The commands of the web application, as they are found by typing. */

const FIELD = 'Type what you want to do or where you want to go'

export const openCommands = async (page: Page): Promise<void> => {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: FIELD }).waitFor()
}

/** A text as it is read. */
const asRead = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** A name has spaces between the parts of a control, which its text has not. */
const unspaced = (text: string): string => text.replace(/\s+/g, '')

/** What the command menu shows for these words. */
export const commandsFor = async (page: Page, words: string): Promise<string[]> => {
  await page.getByRole('combobox', { name: FIELD }).fill(words)
  const options = await page.getByRole('option').allTextContents()
  return options.map(asRead)
}

const ROLES = 'button|radio|checkbox|combobox|textbox|searchbox|spinbutton'
const CONTROL = new RegExp(`- (?:${ROLES}) "((?:[^"\\\\]|\\\\.)*)"(?![^\\n]*\\[disabled\\])`, 'g')

/** What is done in the list itself, where the line is seen: `x` selects it. */
const EXCEPTIONS = /^Select the thread with /

/** The names of what can be pressed or filled in in a part of the page, as its accessibility tree has them. */
const controlsIn = async (page: Page, part: string): Promise<string[]> => {
  const tree = await page.locator(part).first().ariaSnapshot()
  const names = [...tree.matchAll(CONTROL)].map(([, name = '']) => name.replaceAll('\\"', '"'))
  return names.filter((name) => !EXCEPTIONS.test(name))
}

/** Everything that the page lets a member do, with what its menus contain. */
const pressable = async (page: Page): Promise<string[]> => {
  const names = await controlsIn(page, 'main')
  for (const menu of await page.locator('main .menu > button').all()) {
    await menu.press('Enter')
    names.push(...(await controlsIn(page, 'main .menu-list:not([hidden])')))
    await page.keyboard.press('Escape')
  }
  const links = await page.locator('main a.button').allTextContents()
  // A line of a list or a thread is opened where it is seen.
  const lines = await page.locator('main .message-folded, main button[data-row]').allTextContents()
  const all = new Set([...names, ...links.map((link) => link.trim())])
  return [...all].filter((name) => !lines.some((line) => unspaced(line) === unspaced(name)))
}

/**
 * Types each of these into the command menu and returns what it then shows, without the search for the words
 * themselves, which it always shows. All within the page: as many steps of the driver would take most of the time of a
 * test.
 */
const TYPE = `async (names) => {
  const COMMANDS = '[role=group]:not([aria-labelledby$=-search]) [role=option]'
  const field = document.activeElement
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
  const shown = []
  for (const name of names) {
    set.call(field, name)
    field.dispatchEvent(new Event('input', { bubbles: true }))
    await new Promise((resolve) => setTimeout(resolve))
    shown.push([...document.querySelectorAll(COMMANDS)].map(({ textContent }) => textContent))
  }
  return shown
}`

/** Checks that whatever the page lets a member do is found in the command menu by its words. Returns how much it is. */
export const expectCommands = async (page: Page): Promise<number> => {
  const names = await pressable(page)
  await openCommands(page)
  const shown = await page.evaluate<string[][]>(`(${TYPE})(${JSON.stringify(names)})`)
  const missing = names.filter((name, n) => !shown[n]!.some((command) => asRead(command).includes(name)))
  await page.keyboard.press('Escape')
  expect(missing).toEqual([])
  return names.length
}
