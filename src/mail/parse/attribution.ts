/** `wrote` in the languages of the usual clients. */
const VERBS: readonly RegExp[] = [
  /\b(?:wrote|writes|written|said|schrieb|schreef|geschreven|skrev|skrifaði|pisze|napsala?|pise|napisao|napísal)\b/i,
  /\ba écrit\b|\bescribi[oó]\b|\bha scritto\b|\bhai scritto\b|\bescreveu\b|\ba scris\b|\bhá? scritto\b|va escriure/i,
  /napisał|kirjoitti|yazdı|yazmış|írta|написал|пишет|писал|пише|написав|έγραψε|napsal|viết/i,
  /写道|寫道|撰写|のメール|のメッセージ|書きました|作成|작성|씀|쓰기|写到/,
]

const ADDRESS = /(?<![^\s<>()[\]"',;:@])[^\s<>()[\]"',;:@]{1,64}@[^\s<>()[\]"',;:@]{1,255}/
const TIME = /(?<!\d)\d{1,2}[:.h]\d{2}(?!\d)/
const DAY =
  /(?<!\d)(?:\d{1,2}[./-] ?\d{1,2}[./-] ?(?:\d{2}){1,2}|(?:19|20)\d\d ?[-/.年년] ?\d{1,2}|\d{1,2}(?:st|nd|rd|th|er|º|\.)?,? (?:de |d')?\p{L}{2,12}\.?,? (?:de )?(?:19|20)\d\d|\p{L}{3,12}\.? \d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d\d)(?!\d)/u

/** How an attribution begins: On …, or a weekday or a date. */
const START =
  /^[-\s*_“"‐]{0,40}(?:on|am|le|el|em|il|op|den|dne|dnia|w dniu|pe|dana|po|la|tarihinde|at|in|a|на|у|在|於|於|quoting|\p{L}{2,12}[,.]{0,2} \d{1,2}\b|\d{1,4}[./\-年년 ])/iu

/** How it ends: with a colon, or with dashes (Zoho), or with the verb. */
const END = /[:：]\*{0,2}$|[^\s-] ?-{2,40}$|(?:>|\)) (?:wrote|schrieb|skrev|schreef|a écrit|escribió)$/i

const MAX_LENGTH = 500
const MAX_LINES = 6
/** The verb alone, which some clients put below an empty line. */
const ONLY_VERB = /^\p{L}{4,12} ?[:：]$/u
/** `Am Fr., 20. Nov.`, in which the dot ends no sentence. */
const ABBREVIATED = /^(?=\D{0,100}\d).*(?<!\p{L})\p{L}{2,4}\.$/u

/** What introduces a quote: its first line, and how certain it is. */
export interface Attribution {
  start: number
  /**
   * Whether it is certain without any quoted line below: it tells who wrote and when. `likely`: in an answer.
   */
  certainty: 'certain' | 'likely' | 'with-quote'
}

const hasDate = (text: string): boolean => TIME.test(text) || DAY.test(text)

/** Judges one line, or several that were joined; null if it is no attribution. */
function judge(text: string): Attribution['certainty'] | null {
  const verb = VERBS.some((pattern) => pattern.test(text))
  const address = ADDRESS.test(text)
  if (!verb && !address) return null
  const begins = START.test(text)
  if (address && TIME.test(text) && DAY.test(text)) return verb ? 'certain' : 'likely'
  if (verb && begins && ((address && hasDate(text)) || (TIME.test(text) && DAY.test(text)))) return 'certain'
  if (verb && (address || (begins && DAY.test(text)))) return 'likely'
  return 'with-quote'
}

/**
 * Returns the attribution that ends with this line, null if it ends none: `On … wrote:` in many languages,
 * `Name <a@b> wrote:`, or a date and an address before a colon. It may be broken into up to six lines, the
 * first of which then begins like one.
 */
export function attributionAt(lines: readonly string[], end: number): Attribution | null {
  const last = lines[end]!.trim()
  if (last.length > MAX_LENGTH || !END.test(last)) return null
  let text = ''
  let found: Attribution | null = null
  for (let start = end; start >= 0 && start > end - MAX_LINES; start--) {
    const line = lines[start]!.trim()
    if (line === '' && start === end - 1 && ONLY_VERB.test(text)) continue
    const isSentence = /[.!?…]$/.test(line) && !(START.test(line) && ABBREVIATED.test(line))
    if (start < end && (line === '' || line.startsWith('>') || END.test(line) || isSentence)) break
    text = text === '' ? line : `${line} ${text}`
    if (text.length > MAX_LENGTH) break
    const certainty = judge(text)
    const begins = START.test(line) && /\d/.test(line)
    if (certainty !== null && (begins || start === end)) found = { start, certainty }
  }
  return found
}
