import { AppError } from '../../core/errors.ts'
import { STATUS } from '../../core/http/http.ts'
import { type Html, html } from '../../core/text/html.ts'

/** Returns an error's message for a form, without the field's name, which the label shows. */
const wordsOf = (error: AppError): string => {
  const words = error.field ? error.message.slice(error.field.length + 2) : error.message
  return words.charAt(0).toUpperCase() + words.slice(1) + (words.endsWith('.') ? '' : '.')
}

/** Why a form was rejected: the status of the page, and words for the user. */
export interface Problem {
  status: number
  problem: string
}

/** Returns the problem of an error whose message is meant for the user; throws any other error. */
export const problemOf = (error: unknown): Problem => {
  if (!(error instanceof AppError) || error.code === 'internal') throw error
  return { status: STATUS[error.code], problem: wordsOf(error) }
}

/** What a page says above its form about the problem; empty without one. */
export const alertOf = (wrong: Problem | null): readonly Html[] =>
  wrong ? [html`<p class="bad" role="alert">${wrong.problem}</p>`] : []
