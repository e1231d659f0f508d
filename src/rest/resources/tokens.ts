import type { OpenAPIHono } from '@hono/zod-openapi'
import { createToken, listTokens, NewToken, revokeToken, Token } from '../../api/token.ts'
import type { RestEnv } from '../env.ts'
import { route, viewOf } from '../rendered.ts'

export const TokenView = viewOf(Token)
export const NewTokenView = viewOf(NewToken)

export const tokenRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, createToken)
  route(app, listTokens)
  route(app, revokeToken)
}
