import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** The commands of the web application, as they are found by typing. */

const FIELD = 'Type what you want to do or where you want to go'

export const openCommands = async (page: Page): Promise<void> => {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: FIELD }).waitFor()
}

/** What the command menu shows for these words. */
export const commandsFor = async (page: Page, words: string): Promise<string[]> => {
  await page.getByRole('combobox', { name: FIELD }).fill(words)
  const options = await page.getByRole('option').allTextContents()
  return options.map((option) => option.replace(/\s+/g, ' ').trim())
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
  return [...new Set([...names, ...links.map((link) => link.trim())])]
}

/** Checks that whatever the page lets a member do is found in the command menu by its words. Returns how much it is. */
export const expectCommands = async (page: Page): Promise<number> => {
  const names = await pressable(page)
  await openCommands(page)
  const missing: string[] = []
  for (const name of names) {
    const found = await commandsFor(page, name)
    if (!found.some((command) => command.includes(name))) missing.push(name)
  }
  await page.keyboard.press('Escape')
  expect(missing).toEqual([])
  return names.length
}
