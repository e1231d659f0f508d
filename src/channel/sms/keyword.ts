import type { Inbound } from '../../core/channel/inbound.ts'

type Keyword = NonNullable<Inbound['keyword']>

/**
 * The words that carriers and Twilio treat as keywords when they are the whole message; for opting out, also
 * the spellings that the FCC's rule requires (47 CFR 64.1200(a)(10)).
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
/**
 * Words that are also ordinary replies to an agent: they are keywords only from someone who has opted out.
 */
const ALSO_AN_ANSWER = new Set(['YES'])

const meaningOf = (word: string): Keyword['means'] | undefined =>
  (Object.keys(MEANINGS) as Keyword['means'][]).find((means) => MEANINGS[means].includes(word))

/**
 * Returns the keyword of a message that consists only of that word (in any case, with punctuation or quotes),
 * or that Twilio has identified as one (`OptOutType`, for words that the account configured itself).
 */
export const keywordOf = (text: string, optOutType: string | null): Keyword | undefined => {
  const word = text.replace(/^[\s"'“”‘’.,!]+|(?<![\s"'“”‘’.,!])[\s"'“”‘’.,!]+$/g, '').toUpperCase()
  const declared = optOutType?.toLowerCase()
  if (declared === 'stop' || declared === 'start' || declared === 'help')
    return { means: declared, word: word.slice(0, 40) || declared.toUpperCase() }
  const means = word.length > 20 ? undefined : meaningOf(word)
  return means && { means, word, ...(ALSO_AN_ANSWER.has(word) ? { orAnAnswer: true } : {}) }
}
