import type { OpenAPIHono } from '@hono/zod-openapi'
import { listThreads, readThread, readTranscript } from '../../../api/message/thread.ts'
import { addThreadNote, deleteThreadNote, listThreadNotes } from '../../../api/message/thread-note.ts'
import { updateThread, updateThreads } from '../../../api/message/thread-state.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const threadRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listThreads)
  route(app, readThread)
  route(app, readTranscript)
  route(app, updateThread)
  route(app, updateThreads)
  route(app, addThreadNote)
  route(app, listThreadNotes)
  route(app, deleteThreadNote)
}
