import type { OpenAPIHono } from '@hono/zod-openapi'
import {
  createDraft,
  deleteDraft,
  listDrafts,
  readDraft,
  sendDraft,
  updateDraft,
} from '../../../api/message/draft.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const draftRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, createDraft)
  route(app, listDrafts)
  route(app, readDraft)
  route(app, updateDraft)
  route(app, deleteDraft)
  route(app, sendDraft)
}
