import type { Metadata } from '../../core/rules.ts'
import { bind, type Sql, sql } from '../../db/sql/sql.ts'

/** A message `m` with any metadata; these are the conditions of the indexes of such messages. */
export const HAS_METADATA: Sql = sql`m.metadata <> '{}'::jsonb`

/** A message `m` with these values. */
export const hasMetadata = (wanted: Metadata): Sql =>
  sql`${HAS_METADATA} and m.metadata @> ${bind(JSON.stringify(wanted))}::jsonb`

/** Whether the filter names any key. */
export const isWanted = (wanted: Metadata | undefined): wanted is Metadata =>
  wanted !== undefined && Object.keys(wanted).length > 0
