import { domainName } from '../../core/rules.ts'
import {
  addDomain,
  type DomainRecord as DomainRecordShape,
  recordsOfAll,
  removeDomain,
} from '../../email-domain/domain.ts'
import { verifyDomain } from '../../email-domain/verify.ts'
import { builder, forMembers } from '../builder.ts'
import { batched } from '../execution/batch.ts'
import { checked } from '../input.ts'
import { DnsRecordType, DomainRecordPurpose, DomainState } from './enums.ts'
import { Workspace } from './workspace.ts'

const DomainRecord = builder.objectRef<DomainRecordShape>('DomainRecord').implement({
  description: 'A DNS record that a domain needs, and what the last check found.',
  fields: (t) => ({
    purpose: t.expose('purpose', { type: DomainRecordPurpose, description: 'The purpose of the record.' }),
    type: t.expose('type', { type: DnsRecordType, description: 'Its type.' }),
    name: t.exposeString('name', { description: 'The name of the record.' }),
    value: t.exposeString('value', {
      description:
        'The expected value. A zone file splits a TXT record of more than 255 characters into several strings.',
    }),
    priority: t.exposeInt('priority', { nullable: true, description: 'The priority of an MX record.' }),
    required: t.exposeBoolean('required', {
      description:
        "Whether the domain's state depends on this record; if there are several DKIM records, one is enough.",
    }),
    found: t.exposeStringList('found', {
      description: 'What the last check found: at most 10 values of 500 characters.',
    }),
    ok: t.exposeBoolean('ok', {
      description: 'Whether the record is correct; false until the first check.',
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'A description of the problem; null if there is none, or before the first check.',
    }),
  }),
})

const Domain = builder.prismaObject('Domain', {
  description: 'An email domain that the workspace added.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    name: t.exposeString('name', { description: 'The domain, in lower case and ASCII.' }),
    state: t.expose('state', { type: DomainState, description: 'The current status.' }),
    checkedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its DNS records were last checked.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    records: t.field({
      type: [DomainRecord],
      select: { name: true, workspaceId: true, ownershipToken: true, findings: true },
      description: 'The DNS records that it needs.',
      resolve: (domain, _args, context) =>
        batched(context, 'domain records', domain, (domains) => recordsOfAll(context.deps, domains)),
    }),
  }),
})

builder.prismaObjectField(Workspace, 'domains', (t) =>
  t.relation('domains', {
    type: Domain,
    ...forMembers,
    description: "The workspace's own email domains, by name. Members only.",
    query: { orderBy: { name: 'asc' } },
  }),
)

const AddDomainInput = builder.inputType('AddDomainInput', {
  description: 'A domain to add.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'The domain name. A name with characters outside ASCII is converted to its `xn--…` form.',
    }),
  }),
})

const AddDomainPayload = builder.objectRef<{ id: string; created: boolean }>('AddDomainPayload').implement({
  description: 'Result of `addDomain`.',
  fields: (t) => ({
    domain: t.prismaField({
      type: Domain,
      description: 'The domain, with the records to publish.',
      resolve: (query, { id }, _args, { deps }) =>
        deps.prisma.domain.findUniqueOrThrow({ ...query, where: { id } }),
    }),
    created: t.exposeBoolean('created', {
      description: 'True if it is new; false if the workspace already had it.',
    }),
  }),
})

const VerifyDomainInput = builder.inputType('VerifyDomainInput', {
  description: 'The domain to check.',
  fields: (t) => ({ domainId: t.field({ type: 'UUID', required: true, description: 'The domain.' }) }),
})

const VerifyDomainPayload = builder.objectRef<{ id: string }>('VerifyDomainPayload').implement({
  description: 'Result of `verifyDomain`.',
  fields: (t) => ({
    domain: t.prismaField({
      type: Domain,
      description: 'The domain, with what was found for each record.',
      resolve: (query, { id }, _args, { deps }) =>
        deps.prisma.domain.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }),
})

const RemoveDomainInput = builder.inputType('RemoveDomainInput', {
  description: 'The domain to remove.',
  fields: (t) => ({ domainId: t.field({ type: 'UUID', required: true, description: 'The domain.' }) }),
})

const RemoveDomainPayload = builder.objectRef<{ domainId: string }>('RemoveDomainPayload').implement({
  description: 'Result of `removeDomain`.',
  fields: (t) => ({
    domainId: t.expose('domainId', { type: 'UUID', description: 'The id of the removed domain.' }),
  }),
})

builder.mutationFields((t) => ({
  addDomain: t.field({
    type: AddDomainPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Adds an email domain, which then has to be verified. Adding the same name again returns the existing domain. Members only.',
    args: { input: t.arg({ type: AddDomainInput, required: true, description: 'The domain.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { domain, created } = await addDomain(deps, viewer, checked({ name: domainName }, input))
      return { id: domain.id, created }
    },
  }),
  verifyDomain: t.field({
    type: VerifyDomainPayload,
    nullable: true,
    idempotency: 'once',
    description: "Checks a domain's DNS records now, which takes up to 6 seconds. Members only.",
    args: { input: t.arg({ type: VerifyDomainInput, required: true, description: 'The domain.' }) },
    resolve: (_root, { input: { domainId } }, { deps, viewer }) => verifyDomain(deps, viewer, domainId),
  }),
  removeDomain: t.field({
    type: RemoveDomainPayload,
    nullable: true,
    idempotency: 'ignored',
    description: 'Removes a domain on which no agent has an address. Members only.',
    args: { input: t.arg({ type: RemoveDomainInput, required: true, description: 'The domain.' }) },
    resolve: async (_root, { input: { domainId } }, { deps, viewer }) => {
      await removeDomain(deps, viewer, domainId)
      return { domainId }
    },
  }),
}))
