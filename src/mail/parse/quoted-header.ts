/**
 * Labels of the fields that Outlook and similar clients put above the message that is quoted, by field, in
 * many languages.
 */
const FIELDS: Readonly<Record<string, RegExp>> = {
  from: /^[ \t|*]{0,12}(?:from|von|de|da|van|från|fra|lähettäjä|od|odesílatel|от(?: кого)?|від|kimden|gönderen|差出人|发件人|發件人|寄件者|寄件人|보낸 ?사람|발신)[ \u00a0\t*|]{0,12}[:：|]/i,
  sent: /^[ \t|*]{0,12}(?:sent|date|gesendet(?: am)?|datum|envoyé(?: le)?|enviad[ao](?: el| em)?|fecha|data|inviato|verzonden|skickat|sendt|lähetetty|päivämäärä|päiväys|dato|wysłano|odesláno|отправлено|дата|надіслано|gönderildi|gönderme|tarih|送信日時|日時|日付|发送时间|发送日期|發送時間|時間|时间|日期|傳送時間|寄件日期|寄件時間|보낸 ?(?:날짜|시간)|날짜)[ \u00a0\t*|]{0,12}[:：|]/i,
  to: /^[ \t|*]{0,12}(?:to|an|à|para|a|aan|till|til|vastaanottaja|do|komu|кому|kime|alıcı|宛先|收件人|收件者|받는 ?사람|수신)[ \u00a0\t*|]{0,12}[:：|]/i,
  cc: /^[ \t|*]{0,12}(?:cc|kopie|kopia|kopi|kopio|copie|copia|ccn?|cc:n?|копия|копія|bilgi|抄送|副本|참조|c\.c\.)[ \u00a0\t*|]{0,12}[:：|]/i,
  subject:
    /^[ \t|*]{0,12}(?:subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|aihe|temat|předmět|predmet|тема|konu|件名|主题|主題|主旨|제목)[ \u00a0\t*|]{0,12}[:：|]/i,
}

/** From, Sent, To, Cc and Subject, each of which may be folded. */
const MAX_LINES = 14
/** Maximum position of the colon in a field. */
const MAX_LABEL = 50

/** The field that the line begins, or undefined. */
const fieldOf = (line: string): string | undefined => {
  // Cheap, and true of few lines of ordinary text.
  if (!/[:：|]/.test(line.slice(0, MAX_LABEL))) return undefined
  return Object.keys(FIELDS).find((name) => FIELDS[name]!.test(line))
}

/**
 * Whether a header block begins with this line: at least three different fields, in any order, among them
 * From and either Date or Subject, at most two lines of one field apart.
 */
export function isHeaderBlock(lines: readonly string[], at: number): boolean {
  const fields = new Set<string>()
  let since = 0
  for (let i = at; i < lines.length && i < at + MAX_LINES; i++) {
    const field = fieldOf(lines[i]!)
    if (i === at && field === undefined) return false
    if (field !== undefined) {
      if (fields.has(field) && field !== 'cc' && field !== 'to') break
      fields.add(field)
      since = 0
    } else if (
      lines[i]!.trim() !== '' ? ++since > 2 : i > at + 1 && fields.size > 1 && !fieldOf(lines[i + 1] ?? '')
    )
      break
  }
  return fields.size >= 3 && fields.has('from') && (fields.has('sent') || fields.has('subject'))
}

/**
 * The block that Outlook writes, which nothing else has: From with an address, Sent (not Date) with a time, To
 * and Subject.
 */
const OUTLOOK_SENT =
  /^[ \t*]{0,9}(?:sent|gesendet(?: am)?|envoyé(?: le)?|enviado(?: el| em)?|enviada em|inviato|verzonden|skickat|sendt|lähetetty|wysłano|odesláno|отправлено|надіслано|gönderildi|送信日時|发送时间|傳送時間|보낸 ?날짜)[ \u00a0*]{0,3}[:：][^\n]{0,200}\d[:.h]\d\d/i

/** Whether the block that begins with this line can only be Outlook's. */
export const isOutlookBlock = (lines: readonly string[], at: number): boolean =>
  fieldOf(lines[at]!) === 'from' &&
  lines[at]!.includes('@') &&
  lines.slice(at + 1, at + 4).some((line) => OUTLOOK_SENT.test(line)) &&
  isHeaderBlock(lines, at)

/** `-----Original Message-----` in many languages. */
const ORIGINAL =
  /^[ \t]{0,9}[-=_*~‐‑–—]{2,40} ?(?:original (?:message|appointment|e-?mail)|reply message|ursprüngliche nachricht|original-?nachricht|originalnachricht|message d'origine|message original|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|origineel bericht|oprindelig (?:meddelelse|besked|mail)|original(?:t )?(?:meddelande|meddelelse)|ursprungligt meddelande|opprinnelig melding|alkuperäinen viesti|(?:wiadomość oryginalna|oryginalna wiadomość)|původní (?:zpráva|e-?mail)|исходное сообщение|оригинальное сообщение|початкове повідомлення|orijinal (?:mesaj|ileti)|özgün ileti|元のメッセージ|原始邮件|原始郵件|邮件原件|原邮件|回复的原邮件|原始訊息|원본 ?(?:메시지|메일))[^\n]{0,40}$/i

/** Lines that introduce a forwarded message. */
const FORWARDED =
  /forwarded (?:message|by)|weitergeleitete (?:nachricht|e-?mail)|message transféré|mensaje reenviado|mensagem encaminhada|begin forwarded|inoltrato|doorgestuurd|vidarebefordrat|videresendt|edelleenlähetetty|przekazan|přeposlan|пересылаемое|пересланное|переслане|iletilen|転送|转发的?邮件|轉寄|전달된/i

/** Whether the line is a rule, or empty: what stands between an answer and the header block. */
export const isRule = (line: string): boolean => /^[ \t*]{0,9}(?:$|[-_*=]{5})/.test(line)

/** Whether the line says that the message it answers follows. */
export const isOriginalLine = (line: string): boolean => line.length < 200 && ORIGINAL.test(line.trimEnd())

/** Whether the line says that a forwarded message follows. */
export const isForwardedLine = (line: string): boolean =>
  line.length < 200 && (/^[ \t]{0,9}[-_=*>‐–—]{2}/.test(line) || /:\s*$/.test(line)) && FORWARDED.test(line)
