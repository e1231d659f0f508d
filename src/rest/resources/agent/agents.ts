import type { OpenAPIHono } from '@hono/zod-openapi'
import { createAgent, deleteAgent, listAgents, readAgent, updateAgent } from '../../../api/agent/agent.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const agentRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, createAgent)
  route(app, listAgents)
  route(app, readAgent)
  route(app, updateAgent)
  route(app, deleteAgent)
}
