/**
 * Prefixes with which clients mark an answer: Re, AW, SV (Nordic), VS (Finnish), Odp (Polish), Ynt (Turkish),
 * R and Rif (Italian), Res (Portuguese), Antw (Dutch), also numbered (`Re[2]:`) and after the name of a list.
 */
const ANSWER =
  /^\s{0,9}(?:\[[^\]\n]{1,80}\]\s{0,9})?(?:re|aw|antw(?:oord|ort)?|sv|vs|odp|ynt|yan|res|ref|r|rif|отв|відп|回复|回復|答复|答覆|回覆|返信|답장|회신)\s?(?:\[\d{1,3}\]|\(\d{1,3}\)|\^?\d{1,3})?\s?[:：]/i

/** Prefixes of forwarded mail: Fwd, WG, TR (French), RV (Spanish), Enc (Portuguese), VB (Swedish), VL, İLT, PD. */
const FORWARD =
  /^\s{0,9}(?:\[[^\]\n]{1,80}\]\s{0,9})?(?:fwd?|wg|tr|rv|enc|vb|vl|vid\.?|doorst|i|ilt|i̇lt|pd|przek|пер|转发|轉寄|轉發|전달)\s?[:：]/i

/** The fields that tell whether a mail answers another one. */
export interface AnswerSigns {
  subject: string | null
  inReplyTo: string | null
  references: readonly string[]
}

/** An answer, whose quoted lines are history; a forward, whose are meant to be read; or neither. */
export type Purpose = 'answer' | 'forward' | 'other'

/** Tells what a mail is for. Forwarded mail often has References as well. */
export function purposeOf({ subject, inReplyTo, references }: AnswerSigns): Purpose {
  if (FORWARD.test(subject ?? '')) return 'forward'
  return inReplyTo !== null || references.length > 0 || ANSWER.test(subject ?? '') ? 'answer' : 'other'
}
