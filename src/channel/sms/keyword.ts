import type { Inbound } from '../channel.ts'

type Keyword = NonNullable<Inbound['keyword']>

/**
 * The words that carriers and Twilio heed by themselves, as a whole message; of opting out also the spellings
 * that the FCC's rule means (47 CFR 64.1200(a)(10)).
 */
const MEANINGS: Record<Keyword['means'], readonly string[]> = {
  stop: [
    'STOP',
    'STOPALL',
    'UNSUBSCRIBE',
    'CANCEL',
    'END',
    'QUIT',
    'REVOKE',
    'OPTOUT',
    'OPT OUT',
    'OPT-OUT',
    'STOP ALL',
  ],
  start: ['START', 'YES', 'UNSTOP'],
  help: ['HELP', 'INFO'],
}
/** What people also say to an agent: it speaks to the service only from someone who had opted out. */
const ALSO_AN_ANSWER = new Set(['YES'])

const meaningOf = (word: string): Keyword['means'] | undefined =>
  (Object.keys(MEANINGS) as Keyword['means'][]).find((means) => MEANINGS[means].includes(word))

/**
 * What a message says to the service, if it is one of the words alone (in any case, with a full stop or
 * quotes perhaps), or if Twilio says that it took it for one (`OptOutType`, of words that the account chose
 * itself).
 */
export const keywordOf = (text: string, optOutType: string | null): Keyword | undefined => {
  const word = text.replace(/^[\s"'“”‘’.,!]+|(?<![\s"'“”‘’.,!])[\s"'“”‘’.,!]+$/g, '').toUpperCase()
  const told = optOutType?.toLowerCase()
  if (told === 'stop' || told === 'start' || told === 'help')
    return { means: told, word: word.slice(0, 40) || told.toUpperCase() }
  const means = word.length > 20 ? undefined : meaningOf(word)
  return means && { means, word, ...(ALSO_AN_ANSWER.has(word) ? { orAnAnswer: true } : {}) }
}
