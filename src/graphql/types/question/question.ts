import { QuestionStatus } from '../../../api/choices.ts'
import {
  answerQuestion,
  askQuestion,
  Question as QUESTION,
  readQuestion,
  withdrawQuestion,
} from '../../../api/question/question.ts'
import { sentenceOf } from '../../../api/resource.ts'
import {
  MAX_WAITING,
  type Question as QuestionShape,
  questionCursor,
  questionsFor,
  readQuestions,
} from '../../../question/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { pageArgs, pageCost, readPage } from '../../builder/page.ts'
import { enumOf, exposed, mutation, removal } from '../../builder/rendered.ts'
import { counted } from '../../context/limits.ts'
import { Agent } from '../agent/agent.ts'
import { agentOf } from '../message/message.ts'
import { Workspace } from '../workspace/workspace.ts'

const { text, ...fields } = QUESTION.fields

const Question = builder.objectRef<QuestionShape>('Question').implement({
  description: QUESTION.sentence,
  fields: (t) => ({
    ...exposed(t, fields),
    text: t.string({
      description: sentenceOf(text),
      resolve: (question, _args, context) => counted(context, question.text),
    }),
    agent: t.field({
      type: Agent,
      description: 'The agent that asks.',
      resolve: ({ agentId }, _args, context) => agentOf(context, agentId),
    }),
  }),
})

builder.prismaObjectField(Workspace, 'questions', (t) =>
  t.field({
    type: [Question],
    ...forMembers,
    description: `The questions of its agents that the caller may answer now, oldest first; at most ${MAX_WAITING}. Members only.`,
    complexity: { field: 10, multiplier: MAX_WAITING },
    resolve: (_workspace, _args, { deps, viewer }) => questionsFor(deps, viewer),
  }),
)

const QuestionConnection = builder.connectionObject(
  { type: Question, name: 'QuestionConnection', description: 'A page of questions, newest first.' },
  { name: 'QuestionEdge', description: 'A question and its cursor.' },
)

const QuestionStatusEnum = enumOf(QuestionStatus)

builder.prismaObjectField(Agent, 'questions', (t) =>
  t.field({
    type: QuestionConnection,
    description:
      'What the agent has asked members, newest first. Each is kept for 30 days after its time is over.',
    complexity: ({ first }) => pageCost(first),
    args: {
      ...pageArgs(),
      status: t.arg({ type: QuestionStatusEnum, description: 'Only questions of which this became.' }),
    },
    resolve: ({ id }, { status, ...args }, context, info) =>
      readPage(context, info, {
        ...{ key: id, ...args },
        read: (agentIds, request) =>
          readQuestions(context.deps, agentIds, { ...request, status: status ?? undefined }),
        edge: (question) => ({ cursor: questionCursor(question), node: question }),
      }),
  }),
)

builder.queryField('question', (t) =>
  t.field({
    type: Question,
    description: 'One question of an agent.',
    args: {
      agentId: t.arg({ type: 'UUID', required: true, description: 'The agent.' }),
      id: t.arg({ type: 'UUID', required: true, description: 'The question.' }),
    },
    resolve: (_root, { agentId, id: questionId }, { deps, viewer, life, bytes }) =>
      readQuestion.run(deps, viewer, { agentId, questionId }, { via: 'graphql', gone: life, bytes }),
  }),
)

const theQuestion = { type: Question, description: 'The question.' } as const

mutation(askQuestion, 'A question to members.', (t) => ({
  question: t.field({ ...theQuestion, resolve: ({ result }) => result }),
}))

mutation(
  answerQuestion,
  'An answer to a question.',
  (t) => ({ question: t.field({ ...theQuestion, resolve: ({ result }) => result }) }),
  forMembers,
)

removal(withdrawQuestion, 'A question to withdraw.', { questionId: 'The id of the withdrawn question.' })
