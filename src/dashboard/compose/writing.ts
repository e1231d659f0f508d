import { expectChange } from '../live/change.ts'
import { isPassing } from '../live/failure.ts'
import { announce } from '../live/live.ts'
import { beforeSignOut } from '../parts/kept.ts'
import { type Copy, hasContent, TIMES, wordsOf } from './copy.ts'
import { KeptLetter } from './kept-letter.ts'
import { isBlank, type Letter, saidBy, type Words } from './letter.ts'
import {
  type Answer,
  createDraft,
  type Draft,
  deleteDraft,
  readDraft,
  type Sent,
  sendDraft,
  sendLetter,
  updateDraft,
} from './service.ts'
import { text } from './strings.ts'

/** One letter that is being written: kept on this device at each key, and as a draft on the service after a pause. */
export class Writing extends KeptLetter {
  #timer: ReturnType<typeof setTimeout> | undefined
  #later: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  /** When it was last saved from here, of which the service tells too. */
  #savedAt = 0
  /** Drafts that were sent or discarded here, and may still be told of. */
  readonly #ended = new Set<string>()
  /** One request after the other. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(name: string, blank: Words) {
    super(name, blank)
    beforeSignOut(() => this.save())
    addEventListener('online', () => void this.save())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') void this.save()
    })
    if (!this.isSaved) this.#saveIn(TIMES.pause)
  }

  change(changes: Partial<Letter>): void {
    const { files, ...changed } = changes
    if (files) this.setFiles(files)
    const copy = this.copyOrNew
    const words = { ...copy.words, ...changed }
    const revision = crypto.randomUUID()
    this.state = { ...this.state, notice: null, problems: {}, trouble: null }
    const isNothing = !hasContent({ ...copy, words }, this.blank)
    if (isNothing && words.replyAll === this.blank.replyAll && words.channel === this.blank.channel)
      this.clear()
    else this.put({ ...copy, words, revision, saved: isNothing ? revision : copy.saved, at: Date.now() })
    if (!isNothing) this.#saveIn(TIMES.pause)
  }

  /** Takes the letter from its draft, as another device, the agent or a colleague left it: the newer words count. */
  take(draft: Draft): void {
    const { copy } = this
    if (this.#ended.has(draft.id)) return
    if (copy && (copy.draft?.id !== draft.id || copy.draft.updatedAt >= draft.updatedAt)) return
    const known = { id: draft.id, updatedAt: draft.updatedAt }
    const theirs = wordsOf(this.blank.agentId, draft)
    if (copy && saidBy(copy.words) === saidBy(theirs)) {
      this.put({ ...copy, draft: known, saved: copy.filesSaved ? copy.revision : null })
      return
    }
    if (copy) this.state = { ...this.state, notice: text.changedElsewhere }
    if (copy && !this.isSaved && copy.at > Date.parse(draft.updatedAt)) {
      this.put({ ...copy, draft: known, other: theirs })
      return
    }
    const revision = crypto.randomUUID()
    const taken = { ...this.copyOrNew, words: theirs, draft: known, revision, saved: revision }
    this.setFiles([])
    const files = { files: draft.attachments, filesSaved: true }
    this.put({ ...taken, ...files, other: copy?.words ?? null, at: Date.now() })
  }

  /** Changes the words for those that were there before somebody changed them, and back. */
  swap(): void {
    const other = this.copy?.other
    if (!this.copy || !other) return
    this.put({ ...this.copy, other: this.copy.words })
    this.change(other)
  }

  /** Looks whether the draft was changed elsewhere: a little later after it was saved, of which most news is then. */
  async check(): Promise<void> {
    const { draft, words } = this.copy ?? {}
    if (!draft || !words) return
    clearTimeout(this.#later)
    const echo = this.#savedAt + TIMES.echo - Date.now()
    if (echo > 0) {
      this.#later = setTimeout(() => void this.check(), echo)
      return
    }
    const { value, failure } = await readDraft(words.agentId, draft.id)
    if (this.copy?.draft?.id !== draft.id) return
    if (value) this.take(value)
    else if (failure.code === 'not_found') this.#lose()
  }

  /** Saves now what is not saved. Resolves to whether all is. */
  save(): Promise<boolean> {
    clearTimeout(this.#timer)
    return this.#next(async () => this.isSaved || this.#save())
  }

  /** Sends the letter. A second call meanwhile does nothing. */
  async send(): Promise<Sent | null> {
    if (this.state.sending || !this.copy) return null
    clearTimeout(this.#timer)
    this.tell({ sending: true })
    const sent = await this.#next(() => this.#send())
    this.tell({ sending: false })
    return sent
  }

  /** Removes the letter here and on the service. Returns what brings it back. */
  async discard(): Promise<() => void> {
    const { letter, inDraft } = this.shown()
    if (this.copy && inDraft.length > 0) return this.#discardLater(this.copy)
    await this.#next(async () => {
      if (this.copy) await this.#end(this.copy)
    })
    return () => {
      if (!this.copy) this.change(letter)
    }
  }

  /** Files that only the draft has could not be brought back: it is removed when nobody can change their mind. */
  #discardLater(copy: Copy): () => void {
    const { id } = copy.draft ?? {}
    if (id) this.#ended.add(id)
    this.clear()
    const timer = setTimeout(() => void this.#next(() => this.#remove(copy)), TIMES.undo)
    return () => {
      clearTimeout(timer)
      if (id) this.#ended.delete(id)
      if (!this.copy) this.put(copy)
    }
  }

  /** Leaves the letter to its draft: what is written here next is another one. */
  async putAway(): Promise<boolean> {
    const isDone = await this.save()
    if (isDone) this.clear()
    return isDone
  }

  #next<Value>(work: () => Promise<Value>): Promise<Value> {
    const next = this.#last.then(work)
    this.#last = next.catch(() => undefined)
    return next
  }

  #saveIn(pause: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.save(), pause)
  }

  async #save(): Promise<boolean> {
    await this.restored
    const copy = this.copy
    if (!copy) return true
    if (copy.asked && this.files.length === 0 && isBlank(copy.words, this.blank)) return this.#end(copy)
    const draft = copy.draft ?? (await this.#create(copy))
    if (!draft) return false
    // Files whose contents are lost are not replaced by none: they are to be attached again.
    const isWhole = this.files.length === copy.files.length
    const files = copy.filesSaved || !isWhole ? null : this.files
    this.#savedAt = Date.now()
    const { value, failure } = await updateDraft(copy.words, files, draft)
    if (failure) return this.#failed(failure)
    this.#failures = 0
    this.#savedAt = Date.now()
    this.state = { ...this.state, trouble: null }
    const now = this.copy
    if (now) {
      const filesSaved = now.filesSaved || (isWhole && now.files === copy.files)
      this.put({
        ...now,
        draft: { id: value.id, updatedAt: value.updatedAt },
        saved: copy.revision,
        filesSaved,
      })
    }
    this.#announce(value.id)
    return this.isSaved
  }

  async #create(copy: Copy): Promise<Copy['draft']> {
    this.put({ ...this.copy!, asked: true })
    const { value, failure } = await createDraft(copy.words, copy.key)
    if (failure) {
      await this.#failed(failure)
      return null
    }
    if (this.copy) this.put({ ...this.copy, draft: value })
    return value
  }

  /** Nothing is left to keep, here and on the service. */
  #end(copy: Copy): Promise<true> {
    if (copy.draft) this.#ended.add(copy.draft.id)
    this.clear()
    return this.#remove(copy)
  }

  /** Removes the draft, which there may be although the answer to its creation was lost. */
  async #remove({ draft, words, asked, key }: Copy): Promise<true> {
    const { id } = draft ?? (asked ? (await createDraft(words, key)).value : null) ?? {}
    if (id) await deleteDraft(words.agentId, id)
    this.#announce(id)
    return true
  }

  #announce(id: string | undefined): void {
    announce([{ topic: 'drafts', agentId: this.blank.agentId, ...(id === undefined ? {} : { ids: [id] }) }])
  }

  async #failed(failure: NonNullable<Answer<never>['failure']>): Promise<boolean> {
    const { draft, words } = this.copy ?? {}
    if (failure.code === 'not_found' && draft) this.#lose()
    else if (failure.code === 'conflict' && draft && words) {
      const { value } = await readDraft(words.agentId, draft.id)
      if (value) this.take(value)
      if (!this.isSaved) this.#saveIn(TIMES.pause)
    } else {
      this.tell({ trouble: failure.message || text.noAnswer })
      if (isPassing(failure.code) || failure.code === 'conflict')
        this.#saveIn(Math.min(TIMES.firstRetry * 2 ** this.#failures++, TIMES.lastRetry))
    }
    return false
  }

  /** The draft is gone: sent or discarded elsewhere. The words stay, and become another draft if they are changed. */
  #lose(): void {
    if (!this.copy) return
    clearTimeout(this.#timer)
    this.state = { ...this.state, notice: text.goneElsewhere }
    const saved = this.copy.revision
    this.put({
      ...this.copy,
      draft: null,
      asked: false,
      key: crypto.randomUUID(),
      saved,
      filesSaved: false,
    })
  }

  async #send(): Promise<Sent | null> {
    await this.restored
    const { lost } = this.shown()
    if (lost.length > 0) {
      this.refuse({ text: text.attachAgain(lost.map(({ name }) => name)) })
      return null
    }
    const before = this.copy
    if (before && (before.draft || before.asked)) {
      const isSaved = await this.#save()
      // Gone may also mean: sent by a request whose answer was lost, which the same key answers again.
      const isGone = before.draft !== null && this.copy?.draft === null
      if (!isSaved && !isGone) {
        if (this.state.trouble) this.refuse({ text: this.state.trouble })
        return null
      }
    }
    if (!before || !this.copy) return null
    const draft = this.copy.draft ?? before.draft
    const { value, failure } = draft
      ? await sendDraft(before.words.agentId, draft)
      : await sendLetter({ ...before.words, files: this.files }, `${before.key}:${before.revision}`)
    if (value) {
      if (draft) this.#ended.add(draft.id)
      this.clear()
      this.#announce(draft?.id)
      expectChange()
      return value
    }
    if (failure.code === 'not_found' && draft) this.#lose()
    else {
      // Perhaps somebody changed it since it was saved: its writer sees their words before any are sent.
      if (failure.code === 'conflict' && draft) await this.#failed(failure)
      const field = ['to', 'cc', 'bcc', 'subject'].find((one) => one === failure.field) ?? 'text'
      this.tell({ problems: { [field]: failure.message || text.noAnswer } })
    }
    return null
  }

  /** The tab in which it was changed saves it; this one only if that one does not. */
  protected override heard(): void {
    clearTimeout(this.#timer)
    if (!this.isSaved) this.#saveIn(TIMES.otherTab)
  }
}
