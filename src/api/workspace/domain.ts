import { z } from 'zod'
import { domainName, uuid } from '../../core/rules.ts'
import {
  addDomain as add,
  type Domain as DomainRow,
  findDomain,
  listDomains as list,
  recordsOf,
  removeDomain as remove,
  updateDomain as update,
  verifyDomain as verify,
} from '../../email-domain/index.ts'
import { ID, LATER, TIME } from '../example.ts'
import { added, list as listOf, nothing, one, operation } from '../operation.ts'
import { choice, count, id, resource, says, several, text, time } from '../resource.ts'

const DomainState = choice('DomainState', 'The state of a domain.', {
  pending: 'Not all of its DNS records have been found yet.',
  verified: 'The workspace has proven that it owns the domain: agents can have addresses on it.',
  broken: 'The domain was verified, but its DNS records are no longer correct.',
})

const DomainRecordPurpose = choice('DomainRecordPurpose', 'What a DNS record of a domain is for.', {
  ownership: 'Proves that the workspace owns the domain. Required.',
  mx: 'Routes mail for the domain to this service. Required.',
  dkim: 'Mail from the domain is signed with this key. One is required.',
  spf: 'Which servers may send mail from the domain. Recommended.',
  dmarc: 'What receivers should do with mail that passes neither DKIM nor SPF. Recommended.',
})

const DnsRecordType = choice('DnsRecordType', 'The type of a DNS record.', {
  MX: 'A mail exchanger.',
  TXT: 'A text record.',
})

const EXAMPLE = {
  id: ID,
  name: 'example.com',
  state: 'verified',
  catchAllAgentId: null,
  checkedAt: LATER,
  createdAt: TIME,
}

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
}

export const Domain = resource('Domain', 'An email domain that the workspace added.', {
  fields: {
    id: id('Unique identifier.'),
    name: text('The domain name, in lower case and ASCII.'),
    state: says(DomainState, 'Its state.'),
    catchAllAgentId: id(
      'The agent that gets mail to addresses on the domain that no agent has; null: such mail is refused.',
    ).nullable(),
    checkedAt: time('When its DNS records were last checked.').nullable(),
    createdAt: time('When it was added.'),
  },
  example: EXAMPLE,
})

export const DomainRecord = resource(
  'DomainRecord',
  'A DNS record that a domain needs, and what the last check found.',
  {
    fields: {
      purpose: says(DomainRecordPurpose, 'The purpose of the record.'),
      type: says(DnsRecordType, 'Its type.'),
      name: text('The name of the record.'),
      value: text(
        'The expected value. A zone file splits a TXT record of more than 255 characters into several strings.',
      ),
      priority: count('The priority of an MX record.').nullable(),
      required: says(
        z.boolean(),
        "Whether the domain's state depends on this record; if there are several DKIM records, one is enough.",
      ),
      found: says(z.array(z.string()), 'What the last check found: at most 10 values of 500 characters.'),
      ok: says(z.boolean(), 'Whether the record is correct; false until the first check.'),
      problem: text(
        'A description of the problem; null if there is none, or before the first check.',
      ).nullable(),
    },
    example: RECORD,
  },
)

const DomainWithRecords = resource('DomainWithRecords', 'A domain with the DNS records that it needs.', {
  base: Domain,
  fields: { ...Domain.fields, records: several(DomainRecord, 'The DNS records that it needs.') },
  example: { ...EXAMPLE, records: [RECORD] },
})

const tag = 'Domains'
const domainId = says(uuid, 'The domain.')

type RecordDeps = Parameters<typeof recordsOf>[0]

const withRecords = async (deps: RecordDeps, domain: DomainRow) => ({
  ...domain,
  records: await recordsOf(deps, domain),
})

export const listDomains = operation({
  name: 'listDomains',
  says: "Lists the workspace's own email domains. Members only.",
  rest: 'GET /domains',
  tag,
  scope: 'billing',
  input: {},
  fails: ['forbidden'],
  output: listOf(Domain, 'By name.'),
  run: (deps, viewer) => list(deps, viewer),
})

export const addDomain = operation({
  name: 'addDomain',
  says: 'Adds an email domain, which then has to be verified. Publish its `records` in DNS first. Adding the same name again returns the existing domain. Several workspaces can add the same name; the one that proves ownership gets it. Members only.',
  rest: 'POST /domains',
  tag,
  scope: 'billing',
  input: {
    name: says(
      domainName,
      'The domain name. A name with characters outside ASCII is converted to its `xn--…` form.',
    ),
  },
  example: { name: 'example.com' },
  fails: ['forbidden', 'plan', 'conflict'],
  output: added(DomainWithRecords, 'The domain, with the records to publish.'),
  run: async (deps, viewer, input) => {
    const { domain, created } = await add(deps, viewer, input)
    return { ...(await withRecords(deps, domain)), created }
  },
})

export const readDomain = operation({
  name: 'readDomain',
  says: 'Returns a domain with its DNS records. Members only.',
  rest: 'GET /domains/{domainId}',
  tag,
  scope: 'billing',
  input: { domainId },
  fails: ['missing', 'forbidden'],
  output: one(DomainWithRecords, 'The domain, with what the last check found for each record.'),
  run: async (deps, viewer, input) => withRecords(deps, await findDomain(deps, viewer, input.domainId)),
})

export const verifyDomain = operation({
  name: 'verifyDomain',
  says: "Checks a domain's DNS records now, which takes up to 6 seconds. The domain becomes `verified` when the required records (ownership, MX, DKIM) are correct and no other workspace proves ownership of the same name; SPF and DMARC are recommended. A verified domain whose records are wrong becomes `broken`. If DNS does not answer, nothing changes. Domains are also checked automatically every day: a domain becomes `broken` if its records are wrong in two checks an hour apart, and the owners are notified by email. Members only.",
  rest: 'POST /domains/{domainId}/verify',
  tag,
  scope: 'billing',
  input: { domainId },
  fails: ['missing', 'forbidden', 'conflict'],
  output: one(DomainWithRecords, 'The domain, with what was found for each record.'),
  run: async (deps, viewer, input) => withRecords(deps, await verify(deps, viewer, input.domainId)),
})

export const updateDomain = operation({
  name: 'updateDomain',
  says: 'Sets the catch-all agent of a verified domain: mail to an address on it that no agent has reaches that agent, with all checks and limits that hold for its own mail. Members only.',
  rest: 'PATCH /domains/{domainId}',
  tag,
  scope: 'billing',
  input: {
    domainId,
    catchAllAgentId: says(
      uuid,
      'The agent that gets mail to addresses on the domain that no agent has. Null: such mail is refused.',
    )
      .nullable()
      .optional(),
  },
  example: { catchAllAgentId: ID },
  fails: ['missing', 'forbidden', 'conflict'],
  output: one(DomainWithRecords, 'The updated domain.'),
  run: async (deps, viewer, { domainId, ...changes }) =>
    withRecords(deps, await update(deps, viewer, domainId, changes)),
})

export const removeDomain = operation({
  name: 'removeDomain',
  says: 'Removes a domain on which no agent has an address. Members only.',
  rest: 'DELETE /domains/{domainId}',
  tag,
  scope: 'billing',
  input: { domainId },
  fails: ['missing', 'forbidden', 'conflict'],
  output: nothing,
  run: (deps, viewer, input) => remove(deps, viewer, input.domainId),
})
