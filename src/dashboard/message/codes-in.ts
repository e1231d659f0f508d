/** Words that announce a code to type in. */
const ANNOUNCED =
  /(?<!\p{L})(?:(?:pass|pin)?code|codes|pin|otp|tan|(?:bestätigungs|sicherheits|verifizierungs|einmal|anmelde|zugangs)code|einmalpasswort|código|codice|codigo|kod(?:u|en)?|koden|code d’accès|код|кода|κωδικός|קוד|رمز|الرمز)(?!\p{L})|验证码|驗證碼|認証コード|確認コード|コード|인증번호|코드/giu

/** Four to eight digits, also in two groups, or groups of letters and digits with a hyphen between them. */
const CODE =
  /(?<![\p{L}\p{N}.,/:@#=_-])(?:\d{3}[ -]\d{3}|\d{4,8}|[A-Z]{1,2}-\d{4,8}|(?=[A-Z]*\d)[A-Z\d]{3,6}-[A-Z\d]{3,6})(?![\p{L}\p{N}/:@=_-]|[.,]\d)/gu

/** A code stands soon after the word that announces it, or before it on the same line. */
const AFTER = 120
const BEFORE = 60
const MOST = 3
/** Beyond this no mail announces a code. */
const MOST_TEXT = 20_000

const isYear = (code: string): boolean => /^(?:19|20)\d\d$/.test(code)

const firstIn = (text: string): string | undefined =>
  text.match(CODE)?.find((found) => !isYear(found) || text.trim() === found)

const lastIn = (text: string): string | undefined => text.match(CODE)?.findLast((found) => !isYear(found))

/** The codes in a text that it calls so, as they are typed in: without the space between their groups. */
export const codesIn = (given: string): string[] => {
  const text = given.slice(0, MOST_TEXT).replace(/https?:\/\/\S{1,2000}/g, ' ')
  const found = new Set<string>()
  for (const { 0: word, index } of text.matchAll(ANNOUNCED)) {
    const line =
      text
        .slice(Math.max(0, index - BEFORE), index)
        .split('\n')
        .at(-1) ?? ''
    const code = firstIn(text.slice(index + word.length, index + word.length + AFTER)) ?? lastIn(line)
    if (code) found.add(/^\d{3} \d{3}$/.test(code) ? code.replace(' ', '') : code)
    if (found.size === MOST) break
  }
  return [...found]
}
