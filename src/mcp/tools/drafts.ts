import { z } from 'zod'
import { invalidInput } from '../../core/errors.ts'
import { copies, messageSubject, uuid } from '../../core/rules.ts'
import {
  deleteDraft,
  draftOf,
  listDrafts,
  readDraft,
  type SavedDraft,
  sendDraft,
  updateDraft,
} from '../../message/index.ts'
import { atMostOnce, callKey } from '../call/once.ts'
import { compact, READS_OUTSIDE, SENDS, tool } from '../call/tool.ts'
import { clip, type Fence } from '../outside-text/fence.ts'
import { cleanPage } from '../outside-text/pages.ts'
import { cleanValues, ownWords } from '../view/message.ts'
import { filesArgument, readFiles } from './files.ts'
import { BESIDES, HTML, SEND_AT, sentView, TEXT, TO } from './send.ts'

const LIMIT = 20
/** Characters of a draft's text in a list. */
const PREVIEW = 120
const MAX_FILES = 20
const MAX_NAME = 160

/** Members and the agent write drafts; what these quote is somebody else's. */
const draftView = (draft: SavedDraft, fence: Fence, show: (text: string) => object) => {
  const { id, replyTo, forward, text, to, cc, bcc, subject, sendAt, attachments, ...rest } = draftOf(draft)
  return compact({
    draftId: id,
    channel: rest.channel,
    replyTo,
    replyAll: rest.replyAll,
    forward,
    to: fence.addresses(to, to.length),
    cc: fence.addresses(cc, cc.length),
    bcc: fence.addresses(bcc, bcc.length),
    subject: subject && ownWords(subject, fence),
    sendAt,
    metadata: cleanValues(rest.metadata),
    files: attachments.slice(0, MAX_FILES).map(({ name }) => fence.wrap(name, MAX_NAME)),
    html: rest.html !== null,
    updatedAt: rest.updatedAt,
    ...(text === null ? {} : show(text)),
  })
}

export const drafts = tool({
  name: 'list_drafts',
  title: 'List drafts',
  description: 'List drafts, newest first, or read one.',
  hints: READS_OUTSIDE,
  scope: 'messages:read',
  input: {
    draftId: uuid.optional(),
    offset: z.int().min(0).optional().describe('The last nextOffset.'),
    cursor: z.string().max(500).optional(),
  },
  run: async ({ deps, viewer, agentId, fence }, { draftId, offset = 0, cursor }) => {
    if (draftId) {
      const draft = await readDraft(deps, viewer, { agentId, draftId })
      const shown = (all: string) => {
        const { text, nextOffset } = cleanPage(all, offset)
        return compact({ text: ownWords(text, fence), nextOffset })
      }
      return { fence: fence.id, ...draftView(draft, fence, shown) }
    }
    const page = await listDrafts(deps, viewer, agentId, { limit: LIMIT, cursor })
    const preview = (all: string) => ({ text: ownWords(clip(all, PREVIEW), fence) })
    return {
      fence: fence.id,
      drafts: page.items.map((draft) => draftView(draft, fence, preview)),
      ...compact({ nextCursor: page.nextCursor }),
    }
  },
})

const CHANGED = 'Send it with do: send.'

export const updateDrafts = tool({
  name: 'update_draft',
  names: { attachments: 'files' },
  title: 'Change, send or discard a draft',
  description: 'Change a draft, then send or discard it. Arguments left out stay as they are.',
  hints: SENDS,
  scope: 'messages:write',
  input: {
    draftId: uuid,
    do: z.enum(['save', 'send', 'discard']),
    to: TO.optional(),
    cc: copies.optional(),
    ...BESIDES,
    subject: messageSubject.optional(),
    text: TEXT,
    html: HTML,
    files: filesArgument.describe('Replaces all files.'),
    sendAt: SEND_AT,
    key: callKey,
  },
  run: async (call, { draftId, do: action, key, files, ...fields }) => {
    const { deps, viewer, agentId } = call
    const draft = { agentId, draftId }
    const isChanged = files !== undefined || Object.values(fields).some((value) => value !== undefined)
    if (action === 'discard') {
      if (isChanged) throw invalidInput('do', 'is discard, so there is nothing to change')
      await deleteDraft(deps, viewer, draft)
      return { draftId, discarded: true }
    }
    return atMostOnce(call, {
      name: 'update_draft',
      asked: { key, draftId, action, ...fields, ...(files ? { files } : {}) },
      work: async (within) => {
        const attachments = await within.outsideTransaction(() => readFiles(call, deps, files))
        if (isChanged) await updateDraft(within, viewer, draft, { ...fields, attachments })
        if (action === 'save') return { draftId, saved: true, next: CHANGED }
        return sentView(call, await sendDraft(within, viewer, { ...draft, filesStay: isChanged }))
      },
      again: async ({ details: { messageId } }) => (messageId === undefined ? null : { messageId }),
    })
  },
})
