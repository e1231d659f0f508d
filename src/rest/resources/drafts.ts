import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { author } from '../../api/author.ts'
import { Message, MessageFile } from '../../api/message.ts'
import { present, several } from '../../api/resource.ts'
import { SENT } from '../../api/send.ts'
import { CHANNEL_KINDS } from '../../core/channels.ts'
import { timestamp } from '../../core/rules.ts'
import {
  createDraft,
  deleteDraft,
  listDrafts,
  presentDraft,
  readDraft,
  sendDraft,
  updateDraft,
} from '../../message/out/saved-draft.ts'
import type { RestEnv } from '../env.ts'
import { viewOf, written } from '../rendered.ts'
import { body, DEFAULT_LIMIT, failures, ids, NO_CONTENT, ok, PAGING, SECURITY } from '../route.ts'
import { ID, id, pageView, TIME, time } from '../views.ts'

const DraftView = z
  .object({
    id,
    text: z.string().nullable(),
    html: z.string().nullable(),
    replyTo: id.nullable(),
    replyAll: z.boolean(),
    forward: id.nullable(),
    channel: z.enum(CHANNEL_KINDS).nullable(),
    to: z.array(z.string()),
    cc: z.array(z.string()),
    subject: z.string().nullable(),
    sendAt: time.nullable(),
    attachments: written(several(MessageFile, '')),
    savedBy: written(author('Who saved it last; null if that was not recorded.').nullable()),
    createdAt: time,
    updatedAt: time,
  })
  .openapi('Draft', {
    example: {
      id: ID,
      text: 'Hello Ann',
      html: null,
      replyTo: null,
      replyAll: false,
      forward: null,
      channel: 'email',
      to: ['ann@example.com'],
      cc: [],
      subject: 'Hello',
      sendAt: null,
      attachments: [],
      savedBy: { kind: 'agent', id: ID, name: 'Support Bot' },
      createdAt: TIME,
      updatedAt: TIME,
    },
  })

const { text, html, replyTo, replyAll, forward, channel, to, cc, subject, sendAt, attachments } = SENT
const fields = z
  .strictObject({
    text: text.nullable(),
    html: html.nullable(),
    replyTo: replyTo.nullable(),
    replyAll: replyAll.nullable(),
    forward: forward.nullable(),
    channel: channel.nullable(),
    to: to.nullable(),
    cc: cc.nullable(),
    subject: subject.nullable(),
    sendAt: sendAt.nullable(),
    attachments: attachments.nullable(),
  })
  .openapi({ example: { channel: 'email', to: ['ann@example.com'], text: 'Hello Ann' } })

const changes = fields
  .extend({
    unchangedSince: timestamp.optional().openapi({
      format: 'date-time',
      description:
        '`updatedAt` of the draft as you know it: if it was changed since, the error is `conflict`',
    }),
  })
  .openapi({ example: { text: 'Hello Ann, hello Bo', unchangedSince: TIME } })

const tags = ['Drafts']
const security = SECURITY

const create = createRoute({
  method: 'post',
  path: '/agents/{id}/drafts',
  operationId: 'createDraft',
  summary: 'Save a draft of a message',
  description:
    'The fields are those of a message to send; all may be left out. Members and the agent share the drafts.',
  tags,
  security,
  request: { params: ids('id'), ...body(fields) },
  responses: { 201: ok('The draft', DraftView), ...failures('agent', 'body', 'conflict') },
})

const list = createRoute({
  method: 'get',
  path: '/agents/{id}/drafts',
  operationId: 'listDrafts',
  summary: "List the agent's drafts",
  tags,
  security,
  request: { params: ids('id'), query: z.strictObject(PAGING) },
  responses: { 200: ok('Newest first', pageView(DraftView)), ...failures('agent') },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{id}/drafts/{draftId}',
  operationId: 'readDraft',
  summary: 'Get a draft',
  tags,
  security,
  request: { params: ids('id', 'draftId') },
  responses: { 200: ok('The draft', DraftView), ...failures('agent') },
})

const update = createRoute({
  method: 'patch',
  path: '/agents/{id}/drafts/{draftId}',
  operationId: 'updateDraft',
  summary: 'Change a draft',
  description: 'Fields left out are unchanged; null empties a field. `attachments` replaces all files.',
  tags,
  security,
  request: { params: ids('id', 'draftId'), ...body(changes) },
  responses: { 200: ok('The draft', DraftView), ...failures('agent', 'body', 'conflict') },
})

const remove = createRoute({
  method: 'delete',
  path: '/agents/{id}/drafts/{draftId}',
  operationId: 'deleteDraft',
  summary: 'Delete a draft',
  tags,
  security,
  request: { params: ids('id', 'draftId') },
  responses: { 204: NO_CONTENT, ...failures('agent') },
})

const send = createRoute({
  method: 'post',
  path: '/agents/{id}/drafts/{draftId}/send',
  operationId: 'sendDraft',
  summary: 'Send a draft',
  description:
    'The draft is deleted in the transaction that stores the message. If sending fails, it is unchanged.',
  tags,
  security,
  request: { params: ids('id', 'draftId') },
  responses: {
    201: ok('The message, with status `sending`', viewOf(Message)),
    ...failures('agent', 'plan', 'conflict'),
  },
})

export const draftRoutes = (app: OpenAPIHono<RestEnv>): void => {
  const keyOf = ({ id, draftId }: { id: string; draftId: string }) => ({ agentId: id, draftId })
  app.openapi(create, async (c) => {
    const draft = await createDraft(c.var.deps, c.var.viewer, c.req.valid('param').id, c.req.valid('json'))
    return c.json(presentDraft(draft), 201)
  })
  app.openapi(list, async (c) => {
    const { limit = DEFAULT_LIMIT, cursor } = c.req.valid('query')
    const page = await listDrafts(c.var.deps, c.var.viewer, c.req.valid('param').id, { limit, cursor })
    return c.json({ items: page.items.map(presentDraft), nextCursor: page.nextCursor }, 200)
  })
  app.openapi(read, async (c) =>
    c.json(presentDraft(await readDraft(c.var.deps, c.var.viewer, keyOf(c.req.valid('param')))), 200),
  )
  app.openapi(update, async (c) => {
    const key = keyOf(c.req.valid('param'))
    return c.json(presentDraft(await updateDraft(c.var.deps, c.var.viewer, key, c.req.valid('json'))), 200)
  })
  app.openapi(remove, async (c) => {
    await deleteDraft(c.var.deps, c.var.viewer, keyOf(c.req.valid('param')))
    return c.body(null, 204)
  })
  app.openapi(
    send,
    async (c) =>
      c.json(
        present(Message, await sendDraft(c.var.deps, c.var.viewer, keyOf(c.req.valid('param')))),
        201,
      ) as never,
  )
}
