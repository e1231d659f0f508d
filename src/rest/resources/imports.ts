import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { findAgent } from '../../agent/index.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import { readUpTo } from '../../core/http/body.ts'
import { importMessages, MAX_MAIL_BYTES, type MailEntry, NotAnMbox, splitMbox } from '../../message/index.ts'
import { BodyTooLong, streamedBody } from '../request/streamed-body.ts'
import { readViewer } from '../request/viewer.ts'
import type { RestEnv } from '../route/env.ts'
import { answerError } from '../route/errors.ts'
import { failures, ids, ok, secured } from '../route/route.ts'

/** Maximum size of an uploaded mbox. @limit Import and export */
export const MAX_MBOX_BYTES = 1024 * 1024 * 1024
/** Time that an upload may take: 1 GiB at 24 KiB/s. @limit Import and export */
const MAX_MS = 12 * 3_600_000

const ImportView = z
  .object({
    imported: z.int(),
    duplicates: z.int().openapi({ description: 'Mails that the agent already had' }),
    skippedCount: z.int(),
    skipped: z
      .array(z.object({ name: z.string(), reason: z.string() }))
      .openapi({ description: 'The first 1,000 mails that were skipped: too large, or not a mail' }),
  })
  .openapi('Import', {
    example: {
      imported: 1204,
      duplicates: 0,
      skippedCount: 1,
      skipped: [{ name: 'message 17', reason: 'is larger than 25 MiB' }],
    },
  })

const content = { schema: z.string().openapi({ format: 'binary' }) }

const importMails = createRoute({
  method: 'post',
  path: '/agents/{id}/imports',
  operationId: 'importMessages',
  summary: 'Import a mail (message/rfc822), or a mailbox (application/mbox) of up to 1 GiB',
  description:
    'The mails become messages with the status `imported`, with their own dates, threads, texts and attachments. Those from an address of the agent are outbound. They raise no events, and count towards the plan. Mails that the agent already has change nothing, so an import that was interrupted can be repeated; no `Idempotency-Key` is needed. Mails are stored as the body arrives: after a failure, the first ones are stored, and the error says how many.',
  tags: ['Messages'],
  ...secured('messages:write'),
  request: {
    params: ids('id'),
    body: { required: true, content: { 'message/rfc822': content, 'application/mbox': content } },
  },
  responses: {
    200: ok('What was imported', ImportView),
    ...failures('agent', 'content', 'plan', 'conflict'),
  },
})

async function* oneMail(body: AsyncIterable<Uint8Array>): AsyncGenerator<MailEntry, void, undefined> {
  const raw = await readUpTo(body, MAX_MAIL_BYTES)
  if (raw === null) throw new BodyTooLong(MAX_MAIL_BYTES)
  yield { name: 'message 1', raw }
}

/** How the body is read, by its media type. */
const READERS: Record<string, (body: AsyncIterable<Uint8Array>) => AsyncIterable<MailEntry>> = {
  'message/rfc822': oneMail,
  'application/mbox': (body) => splitMbox(body),
}

const mediaTypeOf = (c: Context<RestEnv>): string =>
  (c.req.header('Content-Type') ?? '').split(';', 1)[0]!.trim().toLowerCase()

const wrongType = () =>
  new AppError('invalid_input', `body: the Content-Type must be ${Object.keys(READERS).join(' or ')}`)

/** Answers an import that failed. What remains of the body is not read, so the connection ends. */
const answerFailure = (c: Context<RestEnv>, error: unknown): Response => {
  c.header('Connection', 'close')
  if (error instanceof NotAnMbox)
    return answerError(c, invalidInput('body', 'is not an mbox: it does not begin with a line "From …"'))
  if (error instanceof AppError && (error instanceof BodyTooLong || error.cause instanceof BodyTooLong))
    return answerError(c, error, 413)
  throw error
}

export const importRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(importMails, async (c) => {
    const { id } = c.req.valid('param')
    const { deps, viewer } = c.var
    await findAgent(deps, viewer, id)
    const read = READERS[mediaTypeOf(c)]
    if (!read) return answerError(c, wrongType(), 415) as never
    const { incoming } = c.env
    const slot = await deps.imports.enter(incoming, viewer.tokenId)
    try {
      const entries = read(streamedBody(incoming, { maxBytes: MAX_MBOX_BYTES, maxMs: MAX_MS }))
      const stillAllowed = () => readViewer(c)
      const { imported, duplicates, skippedCount, skipped } = await importMessages(deps, viewer, id, {
        entries,
        stillAllowed,
      })
      return c.json({ imported, duplicates, skippedCount, skipped }, 200)
    } catch (error) {
      return answerFailure(c, error) as never
    } finally {
      slot.leave()
    }
  })
}
