import { listKept, readKept } from '../parts/kept.ts'
import type { Copy } from './copy.ts'
import { pruneFiles } from './kept-files.ts'
import { EMPTY, type Words } from './letter.ts'
import { Writing } from './writing.ts'

const writings = new Map<string, Writing>()

/** The letter that is written in one place, of which all forms on this page show the same. */
export const writingAt = (name: string, blank: Words): Writing => {
  const writing = writings.get(name) ?? new Writing(name, blank)
  writings.set(name, writing)
  return writing
}

/** Where a draft is written on this device; undefined if it is not. */
export const placeOfDraft = (owner: string, draftId: string): string | undefined =>
  listKept<Copy>(owner).find(([, { draft }]) => draft?.id === draftId)?.[0]

/** Saves what was written on this device before a page was left, and is in no draft yet. */
export const resumeAll = (owner: string): void => {
  for (const [name, { words, saved, revision }] of listKept<Copy>(owner))
    if (saved !== revision) writingAt(name, { ...EMPTY, agentId: words.agentId })
  void pruneFiles((name) => readKept(name) !== null)
}
