import { SEALED_BOT_TOKENS } from '../agent/index.ts'
import { SEALED_BLOB_KEYS } from '../blob/index.ts'
import { SEALED_DKIM_KEYS } from '../email-domain/index.ts'
import { SEALED_SECRETS } from '../secret/index.ts'
import { SEALED_IN_WEBHOOKS, SEALED_TEXTS } from '../webhook/index.ts'
import {
  SEALED_ANSWERS,
  SEALED_CODES,
  SEALED_COMPANY_SECRETS,
  type SealedColumn,
} from '../workspace/index.ts'

/**
 * All columns that are encrypted with workspaces' data keys. The values of a column missing here become
 * unreadable when a data key is replaced.
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  SEALED_SECRETS,
  SEALED_BLOB_KEYS,
  SEALED_ANSWERS,
  SEALED_CODES,
  SEALED_COMPANY_SECRETS,
  SEALED_BOT_TOKENS,
  ...SEALED_DKIM_KEYS,
  SEALED_TEXTS,
  ...SEALED_IN_WEBHOOKS,
]
