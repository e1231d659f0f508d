import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { headerLength } from '../../../src/mail/header/headers.ts'
import { parseMail } from '../../../src/mail/parse/parse.ts'
import { replyText } from '../../../src/mail/parse/reply-text.ts'
import { cpuTime } from '../../support/cpu-time.ts'

// Real mail that cannot be stored in this repository; it is read from a folder beside the checkout if there
// is one.
const corpora = join(import.meta.dirname, '../../../../shared/corpora')
const files = (folder: string, ending: string) =>
  existsSync(join(corpora, folder))
    ? readdirSync(join(corpora, folder)).filter((name) => name.endsWith(ending))
    : []
const read = (folder: string, name: string) => readFileSync(join(corpora, folder, name))
const squeeze = (text: string) => text.replace(/\s+/g, ' ').trim()

describe.skipIf(!existsSync(corpora))(`real mail from ${corpora} (skipped if the folder is missing)`, () => {
  test.each(files('mail-gem', '.eml'))(
    '%s is read completely within a second and can be stored',
    async (name) => {
      const raw = read('mail-gem', name)
      const started = cpuTime()
      const mail = await parseMail(raw)
      expect(cpuTime() - started).toBeLessThan(1_000)
      expect(mail.damage).toBeNull()
      const { attachments, ...rest } = mail
      expect(JSON.stringify([rest, attachments.map((part) => [part.name, part.type])])).not.toMatch(
        /\\u0000|\\ud[89a-f]/,
      )
      if (raw.length - headerLength(raw) > 10 && attachments.length === 0) expect(mail.text).not.toBe('')
    },
  )

  const answered = files('replies', '_reply_text').map(
    (name) => [name.replace(/_reply_text$/, ''), name] as const,
  )
  test.each(answered.filter(([name]) => existsSync(join(corpora, 'replies', `${name}.eml`))))(
    'the reply in %s is separated from its history',
    async (name, answer) => {
      const mail = await parseMail(read('replies', `${name}.eml`))
      expect(squeeze(mail.replyText)).toContain(squeeze(read('replies', answer).toString()).slice(0, 60))
      expect(mail.replyText.length).toBeLessThanOrEqual(mail.text.length)
    },
  )

  test.each(files('replies', '.txt'))('%s has a reply text that is not empty', (name) => {
    const text = read('replies', name).toString()
    expect(replyText(text).trim()).not.toBe('')
  })
})
