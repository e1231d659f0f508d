import { domainOf } from '../../core/address/email-address.ts'
import { valuesOf } from '../header/headers.ts'
import type { ParsedMail } from '../parse/parse.ts'
import { reasonOf } from './nonexistent.ts'
import { addressesIn } from './passages.ts'
import { statusIn } from './status.ts'

const MACHINE =
  /^(?:mailer[-_.]?d(?:a?e|e)mon\w*|mail-?d(?:a?e|e)mon|maildaemon|daemon|poo?st[-_]?master|mdaemon|mmdf|bounces?|double-bounce|microsoftexchange[0-9a-f]{20,40}|mail[-_.]?deliver\w*|mail[-_.]?system|mailsystem|mailer|mta|smtp|uucp|nobody|system[-_.]?administrator|return(?:ed)?-?mail)(?:[-+=][^@]{0,80})?(?:@|$)/i
const MACHINE_NAME =
  /^(?:mail-?daemon|mdaemon|mail[-_.]?system)$|\b(?:mailer[- ]?daemon|mail delivery|mail(?:ing)? (?:sub)?system|postmaster|delivery (?:sub)?system|system administrator|mail administrator|internet mail (?:delivery|service)|microsoft (?:exchange|outlook))\b/i
const ANSWER = /^\s{0,4}\[?(?:re|fwd?|aw|wg|tr|sv|vs|vl|antw|rv|enc|odp|pd|ynt|ilt|回复|答复|转发)\s?[:：]/i

const SUBJECTS: readonly RegExp[] = [
  /undeliver|undelivered|returned (?:e-?mail|message|to sender)|return(?:ed|ing) (?:e-?mail|message)|failure notice/i,
  /deliver(?:y|ed)[^\n]{0,20} (?:status|failure|failed|problem|error|notification|report|unsuccessful)|not delivered/i,
  /\bmail (?:delivery|system (?:error|failure)|error|failure|could not)|non-?deliver|\bNDN\b|\bDSN\b|rejected mail/i,
  /(?:message|mail) (?:you sent )?(?:could|can|was|has) ?n[o']t|could not (?:be )?(?:send|sent|deliver)|unable to deliver/i,
  /\bbounced?\b[^\n]{0,10}(?:mail|message|$)|message (?:delivery|expired|rejected|status)|mail rejected|user unknown/i,
  /nicht zugestellt|unzustellbar|zustell(?:ung|fehler)|non remis|non distribu|échec de (?:la )?(?:remise|distribution)/i,
  /no se (?:pudo|puede|ha podido) entregar|no entregado|n[aã]o (?:foi )?entregue|falha na entrega|mancat[oa] (?:recapito|consegna)/i,
  /niet (?:bezorgd|afgeleverd)|onbestelbaar|ikke (?:leveret|levert)|kunne ikke lever|inte levereras|ei voitu toimittaa/i,
  /niedostarczon|nie dostarczono|nedoručiteln|nedoručen|недостав|не доставлен|teslim edilemedi|iletilemedi/i,
  /配信(?:不能|エラー|でき|失敗)|送信(?:エラー|でき|失敗)|不達|エラーメール|メールエラー|退信|投递失败|无法(?:投递|送达)|無法(?:投遞|傳遞)|반송|전송 실패|전달되지/,
]

/** Words that say that delivery has ended. */
const GIVEN_UP: readonly RegExp[] = [
  /permanent(?:ly)? (?:fatal )?(?:error|failure|failed)|\bgiv(?:en|ing) up\b|fatal errors?|returned to (?:the )?sender/i,
  /(?:(?:could|can|was|were|has|have|will) ?(?:not|n't)|cannot|unable to|failed to|wasn't able to|not able to) (?:be )?(?:been )?(?:able to )?(?:deliver|reach|send|sent|complete)/i,
  /deliver(?:y|ing)?[^.;]{0,60}\bfail(?:ed|ure)|undeliver(?:able|ed)|not (?:been )?(?:be )?delivered|did(?: not|n't) reach/i,
  /(?:message|delivery|retry|queue)[^.;]{0,40}(?:expired|timed? ?out|exceeded|aborted|too long)|address(?:es)? failed/i,
  /(?:over|exceed(?:s|ed|ing)?|out of) (?:\w{1,9} ){0,3}quota|quota (?:\w{1,9} ){0,2}(?:exceed|reached)|\bover ?quota|mail ?box (?:is )?(?:currently )?full/i,
  /rejected (?:your|the|this|by)|(?:was|been|were) (?:rejected|refused|returned)|following (?:address|recipient)[^.;]{0,30}(?:had|fail)/i,
  /error (?:has )?occurred while (?:attempting|trying) to deliver|送信できませんでした/i,
  /nicht (?:zugestellt|ausgeliefert|übermittelt)|unzustellbar|n'a (?:pas )?pu être|non remis|pas (?:été )?(?:remis|distribu)/i,
  /no se (?:ha )?(?:pudo|podido|puede) entregar|no (?:ha sido|fue) entregado|n[aã]o (?:p[oôu]de|foi|pode) (?:ser )?entregue/i,
  /non (?:è stato|può essere|è possibile) (?:possibile )?(?:recapit|consegn)|impossibile (?:recapitare|consegnare)/i,
  /niet (?:worden )?(?:bezorgd|afgeleverd)|inte levereras|(?:ikke|ej) (?:leveres|levere)|ei voitu toimittaa/i,
  /nie (?:może|mogła|mogło|została|można)[^.;]{0,30}dostarcz|nelze doručit|nebyl[ao]? (?:možné )?doruč/i,
  /не (?:может быть|была|было|удалось|вдалося)[^.;]{0,30}доставл?|(?:teslim|iletil)\w{0,3} ?edilemedi|iletilemedi/i,
  /(?:配信|送信|配達|お届け)(?:でき|する?こと|され|に失敗)|届きません|无法(?:投递|送达|发送|传递)|無法(?:投遞|送達|傳遞)|被退回|전달(?:되지|할 수)|배달(?:되지|할 수)/,
]

const STILL_TRYING =
  /will (?:keep|continue) (?:to )?(?:be )?(?:try|retr)|still (?:being )?(?:retr|try)|(?:do not|don't|no) need to (?:resend|do anything|retry)|no action is required|warning message only|has been delayed|delivery (?:is |was |has been )?delayed|attempts will continue|delivery attempts? to [^.]{0,40}pending|not yet been delivered|wird (?:weiterhin|weiter) versucht|sera retent|se seguirá intentando/i
const NO_FAILURE = /success|delay|relayed|warning|quarantine|digest|summary/i
/** Mobile carriers send their notices from such addresses, some with a subject that says nothing. */
const AUTOMATIC = /^(?:no|do-?not)[-_.]?reply@/i
const FULL = /\bmail ?box (?:is|was) full\b|メールボックスが(?:一杯|いっぱい|満杯)/i
const FOR_GOOD = /\b5\d\d[ -](?=[^\d])|\b5\d\d$/m

const hasSubject = ({ subject }: ParsedMail): boolean =>
  SUBJECTS.some((pattern) => pattern.test(subject ?? '')) && !ANSWER.test(subject ?? '')

/** Whether a mail server seems to have written the mail. */
export const isFromMachine = (mail: ParsedMail): boolean =>
  MACHINE.test(mail.from.address) ||
  MACHINE_NAME.test(mail.from.name ?? '') ||
  (hasSubject(mail) && valuesOf(mail.headers, 'return-path').some((path) => /^<\s{0,9}>/.test(path)))

/**
 * Whether a mail is a bounce, given its text on one line and whether a header field lists the recipients that
 * failed. A warning that a message is late is not one.
 */
export function isBounce(mail: ParsedMail, words: string, isListed: boolean): boolean {
  if (STILL_TRYING.test(words)) return false
  if (isListed) return true
  // Newsletters, whose senders may be called alike.
  if (valuesOf(mail.headers, 'list-unsubscribe').length > 0 && !hasSubject(mail)) return false
  const isMachine = isFromMachine(mail)
  const hasGivenUp = GIVEN_UP.some((pattern) => pattern.test(words))
  if (AUTOMATIC.test(mail.from.address) && FULL.test(words) && hasGivenUp) return true
  if (!isMachine && !hasSubject(mail)) return false
  if (statusIn(words).startsWith('5') || FOR_GOOD.test(words)) return true
  const reason = reasonOf(words)
  // The subject alone may be that of a parcel service.
  const isForeign = (address: string) => domainOf(address) !== domainOf(mail.from.address)
  if (!isMachine) return reason === 'gone' && addressesIn(words).some(isForeign)
  if (reason === 'gone' || hasGivenUp) return true
  if (reason === 'other' && ANSWER.test(mail.subject ?? '')) return true
  const isFailure = reason === 'other' || /^undeliver/i.test(mail.subject ?? '')
  return isFailure && hasSubject(mail) && !NO_FAILURE.test(mail.subject ?? '')
}
