import { dropKept, keep, onKept, readKept } from '../parts/kept.ts'
import { type Copy, isSaved, namesOf, newCopy, type Shown, type State, shownOf } from './copy.ts'
import type { AttachedFile } from './files.ts'
import { keepFiles, readKeptFiles } from './kept-files.ts'
import { EMPTY, type Problems, type Words } from './letter.ts'
import { text } from './strings.ts'

/** What an earlier version of the application kept may lack fields. */
const readCopy = (name: string): Copy | null => {
  const kept = readKept<Copy>(name)
  return kept && { ...kept, words: { ...EMPTY, ...kept.words } }
}

/** A letter as this device keeps it, the same in all tabs. */
export abstract class KeptLetter {
  readonly name: string
  protected blank: Words
  /** Null while nothing was written. */
  protected copy: Copy | null
  protected files: readonly AttachedFile[] = []
  protected state: State = { notice: null, problems: {}, sending: false, trouble: null }
  /** Resolves once the files that this device has are read. */
  protected restored: Promise<unknown> = Promise.resolve()
  #shown: Shown
  readonly #watchers = new Set<() => void>()

  constructor(name: string, blank: Words) {
    this.name = name
    this.blank = blank
    this.copy = readCopy(name)
    this.#shown = shownOf(this.copy, blank, [], this.state)
    if (this.copy && this.copy.files.length > 0) this.restored = this.#restoreFiles()
    onKept<Copy>(name, (copy) => this.#hear(copy))
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  readonly shown = (): Shown => this.#shown

  /** With what a letter begins here, which changes as messages arrive. */
  begin(blank: Words): void {
    if (JSON.stringify(blank) === JSON.stringify(this.blank)) return
    this.blank = blank
    this.show()
  }

  /** Says what is wrong with it, by field. */
  refuse(problems: Problems): void {
    this.tell({ problems })
  }

  protected get isSaved(): boolean {
    return isSaved(this.copy)
  }

  protected get copyOrNew(): Copy {
    return this.copy ?? newCopy(this.blank)
  }

  /** Another tab changed the letter. */
  protected abstract heard(): void

  protected setFiles(files: readonly AttachedFile[]): void {
    this.files = files
    void keepFiles(this.name, files)
    if (this.copy || files.length > 0)
      this.put({ ...this.copyOrNew, files: namesOf(files), filesSaved: false })
    else this.show()
  }

  protected put(copy: Copy): void {
    this.copy = copy
    if (!keep(this.name, copy)) this.state = { ...this.state, trouble: text.noRoom }
    this.show()
  }

  protected clear(): void {
    this.copy = null
    dropKept(this.name)
    this.setFiles([])
  }

  protected tell(state: Partial<State>): void {
    this.state = { ...this.state, ...state }
    this.show()
  }

  protected show(): void {
    this.#shown = shownOf(this.copy, this.blank, this.files, this.state)
    for (const watcher of this.#watchers) watcher()
  }

  #hear(copy: Copy | null): void {
    if (copy && this.copy && copy.at < this.copy.at) return
    if (!copy && this.copy) this.state = { ...this.state, notice: text.doneInOtherTab }
    const hasOtherFiles = JSON.stringify(copy?.files ?? []) !== JSON.stringify(this.copy?.files ?? [])
    this.copy = copy
    if (!copy) this.files = []
    else if (hasOtherFiles) this.restored = this.#restoreFiles()
    this.heard()
    this.show()
  }

  async #restoreFiles(): Promise<void> {
    this.files = await readKeptFiles(this.name)
    this.show()
  }
}
