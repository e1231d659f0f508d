import { inject } from 'vitest'
import { copyDatabase, temporaryDir } from './postgres.ts'

/**
 * Returns a DATA_DIR for a service with the embedded PostgreSQL, whose database has the tables already, for tests that
 * are not about the first start: creating it takes longer than all else that a start does.
 */
export const preparedDataDir = (): string => {
  const dir = temporaryDir()
  const { prepared } = inject('postgres')
  if (prepared !== undefined) copyDatabase(prepared, dir)
  return dir
}
