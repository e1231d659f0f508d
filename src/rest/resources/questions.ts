import type { OpenAPIHono } from '@hono/zod-openapi'
import {
  answerQuestion,
  askQuestion,
  listQuestions,
  readQuestion,
  withdrawQuestion,
} from '../../api/question/question.ts'
import type { RestEnv } from '../route/env.ts'
import { route } from '../route/rendered.ts'

export const questionRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, askQuestion)
  route(app, listQuestions)
  route(app, readQuestion)
  route(app, answerQuestion)
  route(app, withdrawQuestion)
}
