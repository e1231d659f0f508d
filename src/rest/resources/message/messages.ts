import type { OpenAPIHono } from '@hono/zod-openapi'
import { takeCode } from '../../../api/message/code.ts'
import { approveMessage, cancelMessage, rejectMessage } from '../../../api/message/held-message.ts'
import { listMessages, listWorkspaceMessages, readMessage } from '../../../api/message/message.ts'
import { deleteMessage, deleteMessages } from '../../../api/message/message-deletion.ts'
import { markMessages, updateMessage } from '../../../api/message/message-marks.ts'
import { releaseMessage, releaseMessages } from '../../../api/message/message-release.ts'
import { sendMessage } from '../../../api/message/send.ts'
import { unsubscribe } from '../../../api/message/unsubscribe.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const messageRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, sendMessage)
  route(app, listMessages)
  route(app, listWorkspaceMessages)
  route(app, readMessage)
  route(app, updateMessage)
  route(app, markMessages)
  route(app, approveMessage)
  route(app, rejectMessage)
  route(app, cancelMessage)
  route(app, unsubscribe)
  route(app, releaseMessage)
  route(app, releaseMessages)
  route(app, deleteMessage)
  route(app, deleteMessages)
  route(app, takeCode)
}
