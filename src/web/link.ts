import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../core/errors.ts'
import { html } from '../core/html.ts'
import { type Page, readForm, showPage } from './page.ts'

/** Why a form was not taken, and what it said. */
export interface Wrong {
  status: number
  problem: string
  form: URLSearchParams
}

/** A link that holds a token: a page when it is opened, something done once when its form is sent. */
export interface Link {
  show(token: string): Promise<Page>
  /** Throws an `AppError` whose words the person reads. */
  submit(token: string, form: URLSearchParams): Promise<Page>
  /** The page again, with what was wrong and what was typed. */
  again(token: string, wrong: Wrong): Promise<Page>
}

const STATUS: Partial<Record<AppError['code'], number>> = {
  invalid_input: 400,
  plan_limit: 402,
  forbidden: 403,
  conflict: 409,
  rate_limited: 429,
  unavailable: 503,
}

/** What a link is called on its pages, for when it leads nowhere. */
const CLOSED = {
  used: {
    status: 410,
    title: 'This link has been used',
    says: 'It can be used only once, and someone has used it.',
  },
  expired: {
    status: 410,
    title: 'This link has expired',
    says: 'It was valid for a limited time only.',
  },
  unknown: {
    status: 404,
    title: 'This link is not valid',
    says: 'Check that the link is complete. It may have been revoked, or replaced by a newer one.',
  },
} as const

/** The page of a link that can't be used (any more), with what to do about it. */
export const closedPage = (state: keyof typeof CLOSED, advice: string): Page => {
  const { status, title, says } = CLOSED[state]
  return { status, title, body: html`<p>${says}</p><p class="soft">${advice}</p>` }
}

/** A broken rule as a person reads it: without the field's name, which is the input's label. */
const wordsOf = (error: AppError): string => {
  const words = error.field ? error.message.slice(error.field.length + 2) : error.message
  return words.charAt(0).toUpperCase() + words.slice(1) + (words.endsWith('.') ? '' : '.')
}

const submitted = async (link: Link, token: string, form: URLSearchParams): Promise<Page> => {
  try {
    return await link.submit(token, form)
  } catch (error) {
    const status = error instanceof AppError && STATUS[error.code]
    if (!status) throw error
    return link.again(token, { status, problem: wordsOf(error), form })
  }
}

/** Serves a link's page (GET) and its form (POST). Throws `invalid_input` for anything else. */
export const serveLink = async (
  link: Link,
  token: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (request.method === 'GET' || request.method === 'HEAD') return showPage(response, await link.show(token))
  const form = await readForm(request)
  // What is left of a body that was not read to its end must not be taken for the next request.
  if (!form) response.setHeader('Connection', 'close')
  const unreadable = { status: 400, problem: 'This form could not be read.', form: new URLSearchParams() }
  showPage(response, form ? await submitted(link, token, form) : await link.again(token, unreadable))
}
