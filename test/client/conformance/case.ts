import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from './stand-in.ts'

/** A behaviour that the clients of all languages have in common: cases.json has the table. */
export interface Case {
  name: string
  /** How the service answers, in turn. */
  answers?: Answer[]
  /** Options of the agent; `timeout` in seconds. Its id is A, or has to be found if `id` is null. */
  options?: { id?: string | null; retries?: number; timeout?: number; token?: string }
  steps: Step[]
  /** The requests that the service gets, if the case is about them. */
  requests?: string[]
  /** The idempotency keys of the requests that have one, numbered as they first appear; a key of the caller as it is. */
  keys?: (number | string)[]
  /** Parts of the last request's body. */
  body?: unknown
}

export interface Step {
  /** A method in JavaScript's spelling, with positional arguments, named ones, and an idempotency key. */
  call?: string
  /** The same of a list, which is read to its end. */
  list?: string
  args?: unknown[]
  fields?: Record<string, unknown>
  key?: string
  /** Takes so many messages, and is done with all but those in `open` (counted from 1). */
  loop?: {
    position?: number
    from?: 'now' | 'beginning' | number
    take?: number
    open?: number[]
    reply?: string
  }
  /** The text of the first file of the message with this id. */
  file?: string
  verify?: { headers: Record<string, string>; body: string; secrets: string[]; toleranceSeconds: number }
  /** What must be observed; all else is free. */
  expect: Observed
}

export interface Observed {
  result?: unknown
  error?: Record<string, unknown>
  position?: number | null
  truncated?: number[]
  /** The codes of what the user was told while requests were repeated. */
  waiting?: string[]
}

export const cases: Case[] = JSON.parse(readFileSync(join(import.meta.dirname, 'cases.json'), 'utf8'))
