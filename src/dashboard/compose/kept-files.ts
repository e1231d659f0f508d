import { FILES_DATABASE } from '../parts/kept.ts'
import type { AttachedFile } from './files.ts'

/** The contents of attached files, kept on this device beside the words of their letter (`parts/kept.ts`). */
const STORE = 'files'

const settled = <Value>(request: IDBRequest<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

const within = async <Value>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Value>,
): Promise<Value | undefined> => {
  const opening = indexedDB.open(FILES_DATABASE, 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
  // Without room or permission, files are only in the draft, which the form then says.
  const database = await settled(opening).catch(() => null)
  if (!database) return undefined
  const answer = await settled(work(database.transaction(STORE, mode).objectStore(STORE))).catch(
    () => undefined,
  )
  database.close()
  return answer
}

export const readKeptFiles = async (name: string): Promise<AttachedFile[]> =>
  (await within<AttachedFile[]>('readonly', (store) => store.get(name))) ?? []

export const keepFiles = async (name: string, files: readonly AttachedFile[]): Promise<void> => {
  if (files.length > 0) await within('readwrite', (store) => store.put(files, name))
  else await within('readwrite', (store) => store.delete(name))
}

/** Removes the files of letters that are kept no longer. */
export const pruneFiles = async (isKept: (name: string) => boolean): Promise<void> => {
  const names = (await within('readonly', (store) => store.getAllKeys())) ?? []
  for (const name of names.map(String)) if (!isKept(name)) await keepFiles(name, [])
}
