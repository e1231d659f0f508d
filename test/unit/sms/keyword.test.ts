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
])('%j is an ordinary message', (text) => {
  expect(keywordOf(text, null)).toBeUndefined()
})

test('YES may also be an answer, but the other keywords are only for the service', () => {
  expect(keywordOf('yes', null)).toEqual({ means: 'start', word: 'YES', orAnAnswer: true })
  expect(keywordOf('start', null)).toEqual({ means: 'start', word: 'START' })
})

test('a keyword that the account configured has the meaning that Twilio reports for it', () => {
  expect(keywordOf('ARRET', 'STOP')).toEqual({ means: 'stop', word: 'ARRET' })
  expect(keywordOf('', 'HELP')).toEqual({ means: 'help', word: 'HELP' })
  expect(keywordOf('ARRET', 'nonsense')).toBeUndefined()
})
