import { toInput } from '../parts/form/local-time.ts'
import type { Kept } from '../parts/kept.ts'
import type { AttachedFile } from './files.ts'
import { EMPTY, isBlank, type Letter, type Problems, type Words } from './letter.ts'
import type { Draft } from './service.ts'
import { text } from './strings.ts'

/**
 * In milliseconds: when a letter is saved on the service after the last key, here and in another tab, and after
 * failures; for how long the news of it comes back; and for how long somebody can take back that it was discarded.
 */
export const TIMES = {
  ...{ pause: 2_000, otherTab: 8_000, firstRetry: 5_000, lastRetry: 60_000 },
  ...{ echo: 3_000, undo: 11_000 },
}

export interface FileName {
  name: string
  size: number
}

/** A letter as it is kept on this device. */
export interface Copy extends Kept {
  words: Words
  /** Another one after each change. */
  revision: string
  /** The revision that is in the draft. */
  saved: string | null
  /** Identifies the letter when its draft is created: a repeated request creates no second one. */
  key: string
  /** Whether a draft was asked for, so that there may be one although `draft` is null. */
  asked: boolean
  draft: { id: string; updatedAt: string } | null
  files: readonly FileName[]
  /** Whether the draft has these files. */
  filesSaved: boolean
  /** Words that others replaced, or with which they tried to. */
  other: Words | null
}

/** What a form shows of a letter. */
export interface Shown {
  letter: Letter
  draftId: string | null
  /** `none` while nothing was written. */
  saving: 'no' | 'none' | 'yes'
  /** Why it is not saved. */
  trouble: string | null
  /** What the service refused, by field. */
  problems: Problems
  /** Something that happened to the letter elsewhere. */
  notice: string | null
  other: Words | null
  /** Files of the draft whose contents this device does not have. */
  inDraft: readonly FileName[]
  /** Files that are neither in the draft nor on this device. */
  lost: readonly FileName[]
  sending: boolean
}

export type State = Pick<Shown, 'notice' | 'problems' | 'sending' | 'trouble'>

/** The words of a draft. */
export const wordsOf = (agentId: string, draft: Draft): Words => ({
  ...EMPTY,
  agentId,
  channel: draft.channel ?? 'email',
  replyTo: draft.replyTo ?? null,
  replyAll: draft.replyAll,
  forward: draft.forward ?? null,
  to: draft.to.join(', '),
  cc: draft.cc.join(', '),
  bcc: draft.bcc.join(', '),
  subject: draft.subject ?? '',
  text: draft.text ?? '',
  sendAt: draft.sendAt ? toInput(new Date(draft.sendAt)) : '',
  since: draft.updatedAt,
})

export const isSaved = (copy: Copy | null): boolean => copy === null || copy.saved === copy.revision

/** The names of files, in place of their contents. */
export const namesOf = (files: readonly AttachedFile[]): FileName[] =>
  files.map(({ name, size }) => ({ name, size }))

/** Whether there is something to save: words or files, or a draft that there may be already. */
export const hasContent = ({ words, files, asked, draft }: Copy, blank: Words): boolean =>
  asked || draft !== null || files.length > 0 || !isBlank(words, blank)

/** What a form shows of a letter and the files whose contents are here. */
export const shownOf = (
  copy: Copy | null,
  blank: Words,
  files: readonly AttachedFile[],
  state: State,
): Shown => {
  const here = namesOf(files).map((file) => JSON.stringify(file))
  const missing = (copy?.files ?? []).filter((file) => !here.includes(JSON.stringify(file)))
  const saving = isSaved(copy) && state.notice !== text.goneElsewhere ? 'yes' : 'no'
  return {
    ...state,
    letter: { ...(copy?.words ?? blank), files },
    draftId: copy?.draft?.id ?? null,
    saving: copy && hasContent(copy, blank) ? saving : 'none',
    other: copy?.other ?? null,
    inDraft: copy?.filesSaved ? missing : [],
    lost: copy?.filesSaved ? [] : missing,
  }
}

export const newCopy = (words: Words): Copy => ({
  words,
  revision: '',
  saved: null,
  key: crypto.randomUUID(),
  asked: false,
  draft: null,
  files: [],
  filesSaved: true,
  other: null,
  at: Date.now(),
})
