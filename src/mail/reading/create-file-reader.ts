import type { FileReader } from '../../core/file-text.ts'
import { mayHaveText } from '../file/format.ts'
import type { ReaderOptions } from './mail-reader.ts'
import { ProcessTransport } from './process-transport.ts'
import { FILES, type PoolLimits } from './reader-limits.ts'
import { ReaderPool } from './reader-pool.ts'

/** Creates a reader of files. Its processes are started on demand, so that no file is ever read in this one. */
export const createFileReader = (
  { log, metrics }: Pick<ReaderOptions, 'log' | 'metrics'>,
  limits: Partial<PoolLimits> = {},
): FileReader => {
  const createPool = (workers: number) =>
    new ReaderPool({
      ...{ log, metrics, mailDomain: '', mta: '' },
      resolver: () => Promise.reject(new Error('no file asks for names')),
      open: (...settings) => new ProcessTransport(...settings),
      limits: { ...FILES, ...limits, workers },
    })
  const pool = createPool(limits.workers ?? FILES.workers)
  const background = createPool(1)
  return {
    read: (file, source) => pool.readFile(file, source),
    readLater: (file, source) => background.readFile(file, source),
    mayHaveText,
    close: async () => {
      await Promise.all([pool.close(), background.close()])
    },
  }
}
