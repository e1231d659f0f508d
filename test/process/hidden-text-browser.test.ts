import { expect } from 'vitest'
import { Budget } from '../../src/mail/decode/time-budget.ts'
import { htmlToReadable } from '../../src/mail/parse/html/readable.ts'
import { browserTest, startBrowser } from '../support/browser.ts'
import { HIDDEN } from '../support/hidden-forms.ts'
import { VISIBLE } from '../support/visible-forms.ts'

/** What is left out is what a browser does not paint: pictures with other letters in its place are the same. */

const browser = await startBrowser()
/** Every eighth form: each takes two pictures. */
const sample = (forms: readonly string[]) => forms.filter((_, i) => i % 8 === 0)

browserTest('text is read if and only if a browser paints it', async () => {
  const page = await browser.page({ javaScriptEnabled: false, viewport: { width: 1000, height: 300 } })
  const picture = async (html: string) => {
    await page.setContent(html)
    return (await page.screenshot()).toString('base64')
  }
  for (const [forms, word] of [
    [sample(HIDDEN), 'IGNORE'],
    [sample(VISIBLE), 'SEEN'],
  ] as const)
    for (const form of forms) {
      const html = `<!DOCTYPE html><html><body>${form}<div>end</div></body></html>`
      const other = html.replaceAll(word, [...word].reverse().join(''))
      const isPainted = (await picture(html)) !== (await picture(other))
      expect([form, htmlToReadable(html, new Budget(60_000)).includes(word)]).toEqual([form, isPainted])
    }
})
