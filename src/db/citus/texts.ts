import { event } from './event.ts'
import { message } from './message.ts'
import { webhook } from './webhook.ts'

/**
 * What stands on a database that is distributed with Citus for parts of statements, by the names of these (see
 * dialect.ts). In the comments, "it" is Citus.
 */
export const texts = { ...event, ...message, ...webhook }
export type Texts = typeof texts
