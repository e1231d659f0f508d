import { ProtocolError } from '@modelcontextprotocol/server'
import type { AppError, ErrorCode } from '../../core/errors.ts'
import { publicError } from '../../db/failure.ts'
import { clean, clip } from '../outside-text/fence.ts'

/** The next step for a model after a failure. */
const NEXT: Record<ErrorCode, string> = {
  invalid_input: 'Correct this argument and call again.',
  unauthorized: 'Stop: this token no longer works. A member of the workspace must give you a new one.',
  forbidden: 'Your token does not allow this. Ask a member of the workspace to do it or to allow it.',
  plan_limit: "The workspace's plan does not allow this. Do not retry; tell a member of the workspace.",
  not_found: 'Use an id from list_messages, read_message or whoami.',
  conflict: 'Do not retry until this has changed. If it matters, tell a member of the workspace.',
  rate_limited: 'Wait, then call again.',
  internal: 'Your call was valid. Try once more; if it fails again, tell a member of the workspace.',
  unavailable: 'Wait, then call again.',
}

/** The next step after some failures, by their messages. */
const NEXT_BY_RULE: readonly [RegExp, string][] = [
  [/ is required$/, 'Add this argument and call again.'],
  [/ is not a known field$/, 'Leave this argument out and call again.'],
  [/ is not a message of this agent$/, NEXT.not_found],
  [/^There is no draft /, 'Use a draftId from list_drafts.'],
  [/^There is no attachment /, 'Use an attachmentId from read_message.'],
  [/^There is no question /, 'Use a questionId from ask_member.'],
  [
    /^No such code or link /,
    'Call again to wait longer. The code of a sender who is not proven is not given out: if list_messages shows such a message, ask a member.',
  ],
  [/ contains the values? of the secrets? /, 'Leave the value out and call again.'],
  [/^This agent has no listener/, 'Write to its email address with send_message; whoami names it.'],
]

const RULED: readonly ErrorCode[] = ['invalid_input', 'forbidden', 'not_found', 'conflict']

/** An argument that the tool does not have, whose name is as it was given. */
const UNKNOWN = /^\w+: is not a known field$/

const nextOf = ({ code, message, retryAfter }: AppError, known: readonly string[]): string => {
  if (retryAfter !== undefined) return `Wait ${retryAfter} seconds, then call again.`
  if (UNKNOWN.test(message)) return `Call again with arguments of this tool: ${known.join(', ') || 'none'}.`
  return NEXT_BY_RULE.find(([rule]) => RULED.includes(code) && rule.test(message))?.[1] ?? NEXT[code]
}

/** The message with the name of the argument that was given: `to` for `to[0]` if that was one text. */
const withArgument = (message: string, names: Record<string, string>, given: object): string =>
  UNKNOWN.test(message)
    ? message
    : message.replace(/^(\w+)(\[\d+\])?(?=: )/, (_, field: string, place = '') => {
        const name = names[field] ?? field
        return `${name}${Array.isArray(Reflect.get(given, name)) ? place : ''}`
      })

const MAX_MESSAGE = 2_000

/** What a tool calls its arguments: all that it has, and those for which its operation has other names. */
interface Arguments {
  known: readonly string[]
  names: Record<string, string> | undefined
}

/** A failure as the result of a tool that was called with the given arguments. */
export const failureOf = (error: unknown, { known, names = {} }: Arguments, given: unknown = {}) => {
  const failure = publicError(error)
  const told = withArgument(failure.message, names, Object(given))
  // It may quote a mail server, or the argument that was passed on from a message.
  const message = clip(clean(told), MAX_MESSAGE)
  return {
    failure,
    result: { error: { code: failure.code, message, next: nextOf(failure, known) } },
  }
}

const INVALID_PARAMS = -32602
const INTERNAL = -32603

/** The Events extension's error codes, as ChatGPT knows them and public servers send them. */
const CODES = {
  notFound: -32011,
  forbidden: -32012,
  exhausted: -32013,
  unsupported: -32014,
  callback: -32015,
} as const

/** SEP-3415 counts the same errors from -32023 on. */
const TO_SEP = -12

export interface RpcError {
  code: number
  message: string
  data?: unknown
}

/** An error of events in the codes of SEP-3415, which clients follow that declare the extension as it asks. */
export const inSepCodes = ({ code, message, data }: RpcError): RpcError =>
  rpcError(Object.values<number>(CODES).includes(code) ? code + TO_SEP : code, message, data)

const rpcError = (code: number, message: string, data?: unknown): RpcError => ({
  code,
  message,
  ...(data === undefined ? {} : { data }),
})

export const noSuchEvent = (name: string): RpcError =>
  rpcError(CODES.notFound, `There is no event ${name}.`, { kind: 'event' })
export const exhausted = (limit: string, max: number, message: string): RpcError =>
  rpcError(CODES.exhausted, message, { limit, max })
export const callbackFailed = (reason: string, message: string): RpcError =>
  rpcError(CODES.callback, message, { reason })
export const replacedByAnother = (): RpcError =>
  rpcError(CODES.exhausted, 'Another client is connected now.', {
    limit: 'connectedClients',
    max: 1,
    reason: 'replaced',
  })

const BY_CODE: Record<ErrorCode, number> = {
  invalid_input: INVALID_PARAMS,
  unauthorized: CODES.forbidden,
  forbidden: CODES.forbidden,
  plan_limit: CODES.exhausted,
  not_found: CODES.notFound,
  conflict: CODES.unsupported,
  rate_limited: CODES.exhausted,
  internal: INTERNAL,
  unavailable: INTERNAL,
}

/** A failure as an error of the Events extension. */
export const eventError = (error: unknown): RpcError => {
  const { code, message, retryAfter } = publicError(error)
  const retry = retryAfter === undefined ? {} : { retryAfter }
  return rpcError(
    BY_CODE[code],
    message,
    code === 'not_found' ? { kind: 'subscription' } : { reason: code, ...retry },
  )
}

/** The exception that makes the SDK answer with this error. */
export const refusal = ({ code, message, data }: RpcError): ProtocolError =>
  new ProtocolError(code, message, data)
