import { z } from 'zod'
import { answerText, bounded, questionOption, questionText, uuid } from '../../core/rules.ts'
import {
  answerQuestion as answer,
  askQuestion as ask,
  listQuestions as list,
  readQuestion as read,
  withdrawQuestion as withdraw,
} from '../../question/index.ts'
import { AnswerWay, QuestionStatus } from '../choices.ts'
import { ID, LATER, OTHER, TIME } from '../example.ts'
import { created, nothing, one, operation, PAGE, page, pageOf } from '../operation.ts'
import { id, part, resource, says, text, texts, time } from '../resource.ts'

/** Shortest time for which a question can be answered. @limit Questions */
const MIN_SECONDS = 60
/** Longest time for which a question can be answered: seven days. @limit Questions */
const MAX_SECONDS = 604_800
/** Time that a request waits for an answer: many proxies end a request after 60 seconds. @limit Questions */
const MAX_WAIT = 60
/** Maximum number of answers to choose from. @limit Questions */
const MAX_OPTIONS = 6
/** Maximum number of members whom a question names. @limit Questions */
const MAX_MEMBERS = 50

export const Answer = resource('Answer', 'What a member answered.', {
  fields: {
    text: text('The answer; one of the options if there are any.'),
    by: text('The name that the member had then, or else the email address.'),
    at: time('When it was given.'),
    through: says(AnswerWay, 'How the member answered.'),
  },
  example: { text: 'Yes', by: 'Bo', at: TIME, through: 'telegram' },
})

export const Question = resource('Question', 'What an agent asks members.', {
  fields: {
    id: id('Unique identifier.'),
    agentId: id('The agent that asks.'),
    text: text('What it asks, in its own words.'),
    options: texts('The answers to choose from; empty for an answer in words.', MAX_OPTIONS),
    to: texts('The ids of the members who may answer; empty for all.', MAX_MEMBERS),
    status: says(QuestionStatus, 'Whether it waits for an answer, or what became of it.'),
    answer: part(Answer, 'The answer; null without one.').nullable(),
    createdAt: time('When it was asked.'),
    expiresAt: time('Until when it can be answered.'),
  },
  example: {
    ...{ id: ID, agentId: OTHER, text: 'Refund 80 EUR to Ann?', options: ['Yes', 'No'], to: [] },
    ...{ status: 'open', answer: null, createdAt: TIME, expiresAt: LATER },
  },
})

const tag = 'Questions'
const KEY = { agentId: says(uuid, 'The agent.'), questionId: says(uuid, 'The question.') }

export const askQuestion = operation({
  name: 'askQuestion',
  says: 'Asks members a question. They hear of it in the web application, by mail with a link and, where they have verified an account and the agent has an address, in Telegram or by SMS. The first answer counts. `conflict` when the agent has 20 open questions, `forbidden` when the question contains values of its secrets.',
  rest: 'POST /agents/{agentId}/questions',
  tag,
  scope: 'messages:write',
  input: {
    agentId: says(uuid, 'The agent that asks.'),
    text: says(questionText, 'The question.'),
    options: says(
      bounded(
        z.array(questionOption).min(2).max(MAX_OPTIONS),
        `2 to ${MAX_OPTIONS} of 1 to 60 characters each`,
      ),
      'The answers to choose from. Left out, members answer in words.',
    ).optional(),
    to: says(
      z.array(uuid).max(MAX_MEMBERS),
      'The ids of the members who are asked; by default all who may approve messages, which are all members.',
    ).optional(),
    expiresIn: says(
      z.int().min(MIN_SECONDS).max(MAX_SECONDS),
      'How long it can be answered, in seconds: 60 to 604800 (7 days); by default a day.',
    ).optional(),
  },
  example: { text: 'Refund 80 EUR to Ann?', options: ['Yes', 'No'], expiresIn: 3600 },
  fails: ['agent', 'conflict'],
  output: created(Question, 'The question.'),
  run: (deps, viewer, { agentId, ...asked }) => ask(deps, viewer, agentId, asked),
})

export const listQuestions = operation({
  name: 'listQuestions',
  says: "Lists the agent's questions. Each is kept for 30 days after its time is over.",
  rest: 'GET /agents/{agentId}/questions',
  tag,
  scope: 'messages:read',
  input: {
    agentId: says(uuid, 'The agent that asked.'),
    status: says(QuestionStatus, 'Only questions of which this became.').optional(),
    ...PAGE,
  },
  fails: ['agent'],
  output: page(Question, 'Newest first.'),
  run: (deps, viewer, { agentId, status, ...given }) =>
    list(deps, viewer, agentId, { status, ...pageOf(given) }),
})

export const readQuestion = operation({
  name: 'readQuestion',
  says: 'Returns a question, or waits for its answer. Waiting makes nobody a listener.',
  rest: 'GET /agents/{agentId}/questions/{questionId}',
  tag,
  scope: 'messages:read',
  input: {
    ...KEY,
    seconds: says(
      z.int().min(0).max(MAX_WAIT),
      `How long to wait while it is open: up to ${MAX_WAIT} seconds; by default 0.`,
    ).optional(),
  },
  fails: ['agent'],
  output: one(Question, 'The question.'),
  run: (deps, viewer, input, waiting) => read(deps, viewer, input, waiting!),
})

export const answerQuestion = operation({
  name: 'answerQuestion',
  says: "Answers a question (members only; if it names some, only these). The first answer counts: later ones get `conflict`, which says what became of the question. `forbidden` when the answer contains values of the agent's secrets.",
  rest: 'POST /agents/{agentId}/questions/{questionId}/answer',
  tag,
  scope: 'messages:write',
  input: { ...KEY, text: says(answerText, 'The answer; one of the options if there are any.') },
  example: { text: 'Yes' },
  fails: ['agent', 'conflict'],
  output: one(Question, 'The question with the answer.'),
  run: (deps, viewer, { text, ...key }) =>
    answer(deps, viewer, key, { text, through: viewer.session ? 'app' : 'api' }),
})

export const withdrawQuestion = operation({
  name: 'withdrawQuestion',
  says: 'Withdraws a question: it cannot be answered any more. `conflict` when it has ended.',
  rest: 'DELETE /agents/{agentId}/questions/{questionId}',
  tag,
  scope: 'messages:write',
  input: KEY,
  fails: ['agent', 'conflict'],
  output: nothing,
  run: (deps, viewer, key) => withdraw(deps, viewer, key),
})
