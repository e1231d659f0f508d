// Labels in the header block that Outlook and similar clients put above the quoted message, in several
// languages.
const FROM = words('From|Von|De|Da|Van|Från|Fra|Lähettäjä|Od|От|差出人|发件人|寄件者|보낸 사람')
const SENT = words(
  'Sent|Date|Gesendet|Datum|Envoyé|Enviado(?: el| em)?|Enviada em|Fecha|Data|Inviato|Verzonden|Skickat|Sendt|Lähetetty|Wysłano|Отправлено|Дата|送信日時|发送时间|寄件日期|보낸 날짜',
)
const SUBJECT = words(
  'Subject|Betreff|Objet|Asunto|Assunto|Oggetto|Onderwerp|Ämne|Emne|Aihe|Temat|Тема|件名|主题|主旨|제목',
)
const FORWARDED =
  /forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|begin forwarded|inoltrato|doorgestuurd/i
const RULE = /^(?:$|[-_*=]{5})/
// From, Sent, To, Cc and Subject, each of which may be folded.
const BLOCK_LINES = 10

function words(names: string): RegExp {
  return new RegExp(`^[ \\t]*\\*?(?:${names})[ \\u00a0]?[:：]`, 'i')
}

/**
 * Returns the text above the first header block (`From:`, `Sent:`, `Subject:` on separate lines), below which
 * a reply quotes text without marking its lines. Returns the whole text if there is no such block, nothing
 * precedes it, or it belongs to a forwarded message.
 */
export function withoutHeaderBlock(text: string): string {
  const lines = text.split('\n')
  const at = lines.findIndex(
    (line, index) => FROM.test(line) && isBlock(lines.slice(index + 1, index + BLOCK_LINES)),
  )
  if (at < 0) return text
  let end = at
  while (end > 0 && RULE.test(lines[end - 1]!.trim())) end--
  if (lines.slice(end, at).some((line) => FORWARDED.test(line))) return text
  const above = lines.slice(0, end).join('\n').trimEnd()
  return above.trim() === '' ? text : above
}

const isBlock = (lines: readonly string[]): boolean => {
  const end = lines.findIndex((line) => line.trim() === '')
  const block = end < 0 ? lines : lines.slice(0, end)
  return block.some((line) => SENT.test(line)) && block.some((line) => SUBJECT.test(line))
}
