import type { Answer } from '../post/answer.ts'
import { mask, SHOWN_FROM } from './headers.ts'

/** Returns the texts that must not be shown: values, also without the scheme of a credential (`Bearer …`), and both as strings of JSON. */
const hiddenOf = (headers: readonly string[]): ReadonlySet<string> => {
  const values = headers.filter((_, index) => index % 2 === 1)
  const texts = values.flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)])
  const long = texts.filter(({ length }) => length >= SHOWN_FROM)
  return new Set(long.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]))
}

/** Length of the beginning of `hidden` with which a text ends, because the text was cut there; 0 if it is short. */
const cutAt = (text: string, hidden: string): number => {
  for (let length = Math.min(hidden.length - 1, text.length); length >= SHOWN_FROM; length--)
    if (text.endsWith(hidden.slice(0, length))) return length
  return 0
}

const hide = (text: string, hidden: string): string => {
  const shown = text.replaceAll(hidden, () => mask(hidden))
  const cut = cutAt(shown, hidden)
  return cut === 0 ? shown : `${shown.slice(0, -cut)}…`
}

/** Returns a response without the values of the request's additional headers, which some servers repeat. */
export const withoutValues = (answer: Answer, headers: readonly string[]): Answer => {
  if (headers.length === 0) return answer
  const hidden = [...hiddenOf(headers)].sort((one, other) => other.length - one.length)
  const without = (text: string): string => hidden.reduce(hide, text)
  return {
    headers: answer.headers.map(([name, value]) => [name, without(value)]),
    body: answer.body === null ? null : without(answer.body),
  }
}
