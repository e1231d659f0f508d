import { z } from '@hono/zod-openapi'
import { DomainState } from '../db/generated/prisma/enums.ts'
import { ID, id, LATER, TIME, time } from './views.ts'

const DOMAIN = { id: ID, name: 'example.com', state: 'verified', checkedAt: LATER, createdAt: TIME } as const
export const DomainView = z
  .object({
    id,
    name: z.string().openapi({ description: 'In lower case and ASCII' }),
    state: z.enum(DomainState).openapi({
      description:
        '`pending`: its records were not all seen yet; `verified`: addresses can be on it; `broken`: it was verified, and its records are wrong',
    }),
    checkedAt: time.nullable().openapi({ description: 'When its records were last looked at' }),
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
    value: z.string().openapi({ description: 'A zone file splits a TXT record of more than 255 characters into several strings' }),
    priority: z.int().min(0).nullable().openapi({ description: 'Of an MX record' }),
    required: z.boolean().openapi({ description: "Whether the domain's state depends on it; of several DKIM records one is enough" }),
    found: z.array(z.string()).openapi({ description: 'What the last check found in its place: at most 10 values of 500 characters' }),
    ok: z.boolean().openapi({ description: 'false until a check found it as it should be' }),
    problem: z.string().nullable().openapi({ description: 'What is wrong, in words; null: nothing, or not checked yet' }),
  })
  .openapi('DomainRecord', { example: RECORD })
export const DomainWithRecordsView = DomainView.extend({ records: z.array(DomainRecordView) }).openapi('DomainWithRecords', {
  example: { ...DOMAIN, records: [RECORD] },
})
