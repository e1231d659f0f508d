import { expect, test } from 'vitest'
import { keywordOf } from '../../../src/channel/sms/keyword.ts'

const words = {
  stop: 'STOP STOPALL UNSUBSCRIBE CANCEL END QUIT REVOKE OPTOUT OPT-OUT OPT_OUT STOP_ALL',
  start: 'START YES UNSTOP',
  help: 'HELP INFO',
}

test.each(
  Object.entries(words).flatMap(([means, each]) =>
    each.split(' ').map((word) => [word.replace('_', ' '), means]),
  ),
)('%s means %s', (word, means) => {
  for (const spelled of [word, word!.toLowerCase(), ` ${word}\n`, `"${word}."`, `${word}!`, `${word},`]) {
    expect(keywordOf(spelled, null)).toMatchObject({ means, word })
  }
})

test.each([
  '',
  'STOP it',
  'please stop',
  'the END',
  'STOPP',
  'yes please',
  'YES, NO',
  'ST OP',
  'x'.repeat(1_600),
])('%j is a message', (text) => {
  expect(keywordOf(text, null)).toBeUndefined()
})

test('YES is an answer too, the others speak to the service alone', () => {
  expect(keywordOf('yes', null)).toEqual({ means: 'start', word: 'YES', orAnAnswer: true })
  expect(keywordOf('start', null)).toEqual({ means: 'start', word: 'START' })
})

test("a word that the account chose counts by Twilio's word for it", () => {
  expect(keywordOf('ARRET', 'STOP')).toEqual({ means: 'stop', word: 'ARRET' })
  expect(keywordOf('', 'HELP')).toEqual({ means: 'help', word: 'HELP' })
  expect(keywordOf('ARRET', 'nonsense')).toBeUndefined()
})
