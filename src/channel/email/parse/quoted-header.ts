// What Outlook and its like put above the message that is answered, in the languages of its menus.
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
 * The text above the first header block (`From:`, `Sent:`, `Subject:` on lines of their own), which an answer
 * quotes without a mark on its lines. The whole text where there is none, where nothing stands above it, or
 * where the block says that the message was forwarded.
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
