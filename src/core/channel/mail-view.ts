/** How an email's HTML is to be shown. */
export interface ViewOptions {
  /** Whether images are loaded from other servers, which tells these that the mail is read. */
  remoteImages: boolean
  /** Whether it is HTML to be sent: what its readers would not see is removed. */
  outgoing?: boolean
  /** What is wanted besides the header fields, which always come along; `html` if left out. */
  part?: 'html' | 'hiddenText' | 'headers'
}

/** A header field with its decoded value. */
export interface HeaderField {
  name: string
  value: string
}

/** What a mail client shows of an email besides its text. */
export interface MailView {
  /** The sanitized HTML; null if it is not wanted, the email has none, or it takes too much time or memory to sanitize. */
  html: string | null
  /** Number of references to images on other servers that were removed. */
  blockedImages: number
  /** The header fields in order. */
  headers: HeaderField[]
  /** The text that people do not see, if it is wanted: one for each place; empty if there is none. */
  hiddenText: string[]
}

/** An email to be shown: one as received, or the HTML of one that was sent. */
export interface Viewing extends ViewOptions {
  mail: { raw: Uint8Array } | { html: string }
  /** Key for fair queueing: the viewer. */
  source: string
}

/** The content of an email that is written as HTML. */
export interface HtmlContent {
  /** The sanitized HTML. */
  html: string
  /** Its plain text, for readers without HTML. */
  text: string
}
