import { z } from '@hono/zod-openapi'
import { DomainState } from '../../db/generated/prisma/enums.ts'
import { ID, id, LATER, TIME, time } from '../views.ts'

const DOMAIN = { id: ID, name: 'example.com', state: 'verified', checkedAt: LATER, createdAt: TIME } as const
export const DomainView = z
  .object({
    id,
    name: z.string().openapi({ description: 'The domain name, in lower case and ASCII' }),
    state: z.enum(DomainState).openapi({
      description:
        '`pending`: not all records have been found yet; `verified`: agents can have addresses on the domain; `broken`: the domain was verified, but its records are no longer correct',
    }),
    checkedAt: time.nullable().openapi({ description: 'When the records were last checked' }),
    createdAt: time,
  })
  .openapi('Domain', { example: DOMAIN })
const RECORD = {
  purpose: 'mx',
  type: 'MX',
  name: 'example.com',
  value: 'mail.example.net',
  priority: 10,
  required: true,
  found: ['10 mail.example.net'],
  ok: true,
  problem: null,
} as const
const DomainRecordView = z
  .object({
    purpose: z.enum(['ownership', 'mx', 'dkim', 'spf', 'dmarc']),
    type: z.enum(['MX', 'TXT']),
    name: z.string(),
    value: z.string().openapi({
      description: 'A zone file splits a TXT record of more than 255 characters into several strings',
    }),
    priority: z.int().min(0).nullable().openapi({ description: 'The priority of an MX record' }),
    required: z.boolean().openapi({
      description:
        "Whether the domain's state depends on this record; if there are several DKIM records, one is enough",
    }),
    found: z.array(z.string()).openapi({
      description: 'What the last check found: at most 10 values of 500 characters',
    }),
    ok: z.boolean().openapi({ description: 'Whether the record is correct; false until the first check' }),
    problem: z.string().nullable().openapi({
      description: 'A description of the problem; null if there is none, or before the first check',
    }),
  })
  .openapi('DomainRecord', { example: RECORD })
export const DomainWithRecordsView = DomainView.extend({ records: z.array(DomainRecordView) }).openapi(
  'DomainWithRecords',
  {
    example: { ...DOMAIN, records: [RECORD] },
  },
)
