import { raw, type Sql } from './sql.ts'

/**
 * The id of a row that a statement makes: a UUID of version 7 (RFC 9562), of which the first 48 bits are the time. So new
 * rows are neighbours in the index of ids (docs/decisions.md#ids-in-order). PostgreSQL makes such ids itself since
 * version 18, but DATABASE_URL may lead to an earlier one.
 */
export const NEW_ID: Sql = raw(
  `encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
     placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid`,
)
