import { describe, expect, test } from 'vitest'
import { replyText } from '../../../src/mail/parse/reply-text.ts'

const block = (lines: string) => `Yes.\n\n${lines}\n\nShall I?\n`

describe('the history below a reply is removed', () => {
  test.each([
    ['Gmail', 'Yes.\n\nOn Fri, Nov 20, 2026 at 10:00 AM Bot <bot@x.com> wrote:\n\n> Shall I?\n'],
    [
      'Gmail with a wrapped line',
      'Yes.\n\nOn Fri, Nov 20, 2026 at 10:00 AM Bot with a long name\n<bot@x.com> wrote:\n> Shall I?\n',
    ],
    ['Gmail in German', 'Yes.\n\nAm Fr., 20. Nov. 2026 um 10:00 Uhr schrieb Bot <bot@x.com>:\n> Shall I?\n'],
    ['Gmail in French', 'Yes.\n\nLe ven. 20 nov. 2026 à 10:00, Bot <bot@x.com> a écrit :\n> Shall I?\n'],
    [
      'Gmail in Spanish',
      'Yes.\n\nEl vie, 20 nov 2026 a las 10:00, Bot (<bot@x.com>) escribió:\n> Shall I?\n',
    ],
    ['Gmail in Japanese', 'Yes.\n\n2026年11月20日(金) 10:00 Bot <bot@x.com>:\n\n> Shall I?\n'],
    ['Thunderbird in German', 'Yes.\n\nAm 20.11.26 um 10:00 schrieb Bot:\n> Shall I?\n'],
    ['Apple Mail', 'Yes.\n\n> On 20 Nov 2026, at 10:00, Bot <bot@x.com> wrote:\n> \n> Shall I?\n'],
    ['Outlook', block('From: Bot\nSent: Friday, November 20, 2026 10:00 AM\nTo: Ann\nSubject: Question')],
    [
      'Outlook on the web',
      block(`${'_'.repeat(32)}\nFrom: Bot <b@x.com>\nSent: Friday\nTo: Ann <a@x.com>\nSubject: Question`),
    ],
    ['Outlook for iOS', block('*From:* Bot\n*Sent:* Friday\n*To:* Ann\n*Subject:* Question')],
    ['old Outlook', block('-----Original Message-----\nFrom: Bot\nSent: Friday\nTo: Ann\nSubject: Question')],
    [
      'Outlook in German',
      block('Von: Bot\nGesendet: Freitag, 20. November 2026 10:00\nAn: Ann\nBetreff: Frage'),
    ],
    [
      'old Outlook in German',
      block('-----Ursprüngliche Nachricht-----\nVon: Bot\nGesendet: Freitag\nAn: Ann\nBetreff: Frage'),
    ],
    [
      'Outlook in French',
      block('De : Bot\nEnvoyé : vendredi 20 novembre 2026 10:00\nÀ : Ann\nObjet : Question'),
    ],
    ['Outlook in Dutch', block('Van: Bot\nVerzonden: vrijdag\nAan: Ann\nOnderwerp: Vraag')],
    ['Outlook in Japanese', block('差出人: Bot\n送信日時: 2026年11月20日\n宛先: Ann\n件名: 質問')],
  ])('in mail from %s', (_, text) => expect(replyText(text)).toBe('Yes.'))
})

test.each([
  [
    'above the history',
    '\n\n    const a = 1\n    go(a)\n\nOn Fri, Nov 20, 2026 at 10:00 AM Bot wrote:\n> How?\n',
  ],
  ['below a quote', '> How?\n \n    const a = 1\n    go(a)\n\n> And then?\n\n'],
])('a reply that begins with indented code keeps its indentation, %s', (_, text) =>
  expect(replyText(text)).toBe('    const a = 1\n    go(a)'),
)

describe('other text is not mistaken for history', () => {
  test.each([
    ['answers between the questions', '> Shall I?\n\nYes.\n\n> And then?\n\nNo.\n', 'Yes.\nNo.'],
    ['a quote and nothing else', '> all of it\n', '> all of it\n'],
    [
      'a forward',
      'See:\n\n---------- Forwarded message ---------\nFrom: Bot\nDate: Friday\nSubject: x\nTo: a\n\nWords\n',
      null,
    ],
    ['a forward and nothing else', 'From: Bot\nSent: Friday\nTo: Ann\nSubject: x\n\nWords\n', null],
    [
      'words that begin like a header',
      'From: what I know, it is fine.\nTo: be sure, ask.\nSent: yes\n',
      null,
    ],
    ['a form', 'From: Berlin\nDate: Monday\nRooms: 2\n', null],
    ['a signature', 'Yes.\n\n-- \nAnn\n', null],
  ])('such as %s', (_, text, expected) => expect(replyText(text)).toBe(expected ?? text))
})

test.each([
  ['headers', 'From: a\n'.repeat(20_000)],
  ['header blocks', `${'x\n'}${'From: a\nSent: b\nSubject: c\n\n'.repeat(5_000)}`],
  ['blanks', `a\n${' '.repeat(100_000)}x\nFrom: a\nSent: b\nSubject: c\n\nd`],
  ['rules', `a\n${'-'.repeat(200_000)}\nFrom: a\nSent: b\nSubject: c\n\nd`],
])('endless %s are read within a second', (_, text) => {
  const started = performance.now()
  expect(replyText(text)).not.toBe('')
  expect(performance.now() - started).toBeLessThan(1_000)
})
