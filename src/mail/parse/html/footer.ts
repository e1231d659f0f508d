/** How the footers of lists and automatic mails begin. */
const BEGINS =
  /^\W{0,9}(?:(?:please )?(?:do not|don['’]t) (?:reply|respond)\b|you(?:['’]re| are| have)? (?:receiv|got|get)\w{0,4} this|this (?:e-?mail|message|newsletter) (?:was|is being|has been) sent (?:to|by|from)|to unsubscribe|(?:to|if you (?:no longer|wish|want|would like|do not|don['’]t)).{0,60}(?:unsubscribe|removed|receive)|(?:bitte )?antworten sie (?:bitte )?nicht|sie (?:erhalten|bekommen) diese|diese e-?mail wurde|vous recevez ce|merci de ne pas répondre|recibe?s? este|no respondas? a este|você (?:está recebendo|recebeu) este|ricevi questa|hai ricevuto questa|je ontvangt deze|u ontvangt deze)/i

/** Words of orders, and of what they are about. */
export const ORDERS: RegExp =
  /(?<!\p{L})(?:send|forward|transfer|wire|pay|approve|confirm|delete|remove all|export|upload|download|call|buy|order|grant|share|disclose|reveal|tell|assistants?|agents?|models?|ai|llms?|ignore|disregard|must|instead|instructions?|passwords?|secrets?|keys?|tokens?|überweis\w*|sende|leite|lösche|ignorier\w*|anweisung\w*|envoye\w*|transf\w*|paye\w*|supprim\w*|env[ií]a\w*|pag(?:ar?|ue[ns]?|amos)|borra\w*|elimina\w*|inoltra\w*|stuur\w*|betaal\w*)(?!\p{L})/iu

/** What no such footer says besides: somebody else's address, amounts. */
const SAYS_MORE = /[\d@]/

const MAX_FOOTER = 600

const RULE = /^[=*_-]{10,200}$/

/** The paragraphs of a text, which blank lines or rules separate. */
const paragraphsOf = (text: string): string[] => {
  const paragraphs: string[] = ['']
  for (const line of text.split('\n')) {
    const isBetween = line.trim() === '' || RULE.test(line.trim())
    if (!isBetween) paragraphs[paragraphs.length - 1] += `${line}\n`
    else if (paragraphs.at(-1) !== '') paragraphs.push('')
  }
  return paragraphs
}

const isFooter = (paragraph: string): boolean => {
  const text = paragraph
    .replace(/\b(?:https?:\/\/|www\.)\S+/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
  return text.length <= MAX_FOOTER && BEGINS.test(text) && !SAYS_MORE.test(text) && !ORDERS.test(text)
}

/** How many footers a mail has. */
const MAX_FOOTERS = 2

/** Leaves out of a plain text the footers of lists and automatic mails, which its HTML often does without. */
export const withoutFooters = (plain: string): string => {
  let left = MAX_FOOTERS
  return paragraphsOf(plain)
    .filter((paragraph, at) => at === 0 || left === 0 || !isFooter(paragraph) || left-- === 0)
    .join('\n\n')
}
