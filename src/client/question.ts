import type { components, operations } from './api.ts'
import type { AgentCall, BodyOf, CallOptions, QueryOf } from './call.ts'
import { List } from './list.ts'

export type Question = components['schemas']['Question']

type Asked = BodyOf<operations['askQuestion']>
type Filter = Omit<QueryOf<operations['listQuestions']>, 'cursor'>

export interface AskOptions extends Omit<Asked, 'text'>, CallOptions {
  /** How long to wait for the answer; by default until the question ends. 0 only asks. */
  seconds?: number | undefined
  /** The idempotency key of the request: the same call with the same key asks once. */
  key?: string | undefined
}

/** Time that one request waits. */
const MAX_WAIT = 30

/** Waits for a question to end, at most so many seconds. */
const awaitEnd = async (
  call: AgentCall,
  asked: Question,
  { seconds = Number.POSITIVE_INFINITY, signal }: Pick<AskOptions, 'seconds' | 'signal'>,
): Promise<Question> => {
  const until = Date.now() + seconds * 1000
  let question = asked
  while (question.status === 'open' && Date.now() < until) {
    const left = Math.ceil((until - Date.now()) / 1000)
    question = await call('get', '/agents/{id}/questions/{questionId}', {
      path: { questionId: asked.id },
      query: { seconds: Math.min(left, MAX_WAIT) },
      signal,
    })
  }
  return question
}

/** Asks members a question, and waits for it to end. */
export const ask = async (
  call: AgentCall,
  text: string,
  { seconds, signal, key, ...asked }: AskOptions,
): Promise<Question> => {
  const question = await call('post', '/agents/{id}/questions', { body: { text, ...asked }, signal, key })
  return awaitEnd(call, question, { seconds, signal })
}

/** What the agent has asked. Members answer. */
export const questionsOf = (call: AgentCall) => ({
  list: ({ signal, ...filter }: Filter & CallOptions = {}) =>
    new List<Question>((cursor) =>
      call('get', '/agents/{id}/questions', {
        query: cursor === undefined ? filter : { ...filter, cursor },
        signal,
      }),
    ),
  /** While it is open, waits up to 60 seconds for it to end. */
  read: (questionId: string, { seconds, ...options }: { seconds?: number } & CallOptions = {}) =>
    call('get', '/agents/{id}/questions/{questionId}', {
      path: { questionId },
      query: seconds === undefined ? {} : { seconds },
      ...options,
    }),
  answer: (questionId: string, text: string, options?: CallOptions) =>
    call('post', '/agents/{id}/questions/{questionId}/answer', {
      path: { questionId },
      body: { text },
      ...options,
    }),
  withdraw: (questionId: string, options?: CallOptions) =>
    call('delete', '/agents/{id}/questions/{questionId}', { path: { questionId }, ...options }),
})
