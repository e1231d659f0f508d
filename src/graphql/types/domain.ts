import { domainName } from '../../core/rules.ts'
import { addDomain, type DomainRecord as DomainRecordShape, recordsOfAll, removeDomain } from '../../domain/domain.ts'
import { verifyDomain } from '../../domain/verify.ts'
import { batched } from '../batch.ts'
import { builder, forMembers } from '../builder.ts'
import { checked } from '../input.ts'
import { DnsRecordType, DomainRecordPurpose, DomainState } from './enums.ts'
import { Workspace } from './workspace.ts'

const DomainRecord = builder.objectRef<DomainRecordShape>('DomainRecord').implement({
  description: 'A DNS record that a domain should have, and what the last check found in its place.',
  fields: (t) => ({
    purpose: t.expose('purpose', { type: DomainRecordPurpose, description: 'What it is for.' }),
    type: t.expose('type', { type: DnsRecordType, description: 'Its type.' }),
    name: t.exposeString('name', { description: 'Where it stands.' }),
    value: t.exposeString('value', {
      description: 'What it should say. A zone file splits a TXT record of more than 255 characters into several strings.',
    }),
    priority: t.exposeInt('priority', { nullable: true, description: 'Of an MX record.' }),
    required: t.exposeBoolean('required', {
      description: "Whether the domain's state depends on it; of several DKIM records one is enough.",
    }),
    found: t.exposeStringList('found', { description: 'What the last check found: at most 10 values of 500 characters.' }),
    ok: t.exposeBoolean('ok', { description: 'Whether it was as it should be; false until a check was made.' }),
    problem: t.exposeString('problem', { nullable: true, description: 'What is wrong, in words; null: nothing, or not checked yet.' }),
  }),
})

const Domain = builder.prismaObject('Domain', {
  description: 'An email domain that the workspace brought.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    name: t.exposeString('name', { description: 'The domain, in lower case and ASCII.' }),
    state: t.expose('state', { type: DomainState, description: 'How far it has come.' }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', nullable: true, description: 'When its DNS records were last looked at.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    records: t.field({
      type: [DomainRecord],
      select: { name: true, workspaceId: true, ownershipToken: true, findings: true },
      description: 'The DNS records that it should have.',
      resolve: (domain, _args, context) => batched(context, 'domain records', domain, (domains) => recordsOfAll(context.deps, domains)),
    }),
  }),
})

builder.prismaObjectField(Workspace, 'domains', (t) =>
  t.relation('domains', {
    type: Domain,
    ...forMembers,
    description: 'The email domains that it brought, by name. For members.',
    query: { orderBy: { name: 'asc' } },
  }),
)

const AddDomainInput = builder.inputType('AddDomainInput', {
  description: 'A domain to add.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'A domain name; in other scripts than ASCII it becomes its `xn--…` form.' }),
  }),
})

const AddDomainPayload = builder.objectRef<{ id: string; created: boolean }>('AddDomainPayload').implement({
  description: 'What became of `addDomain`.',
  fields: (t) => ({
    domain: t.prismaField({
      type: Domain,
      description: 'The domain, with the records to publish.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.domain.findUniqueOrThrow({ ...query, where: { id } }),
    }),
    created: t.exposeBoolean('created', { description: 'Whether it is new; the workspace had it already otherwise.' }),
  }),
})

const VerifyDomainInput = builder.inputType('VerifyDomainInput', {
  description: 'The domain to look at.',
  fields: (t) => ({ domainId: t.field({ type: 'UUID', required: true, description: 'The domain.' }) }),
})

const VerifyDomainPayload = builder.objectRef<{ id: string }>('VerifyDomainPayload').implement({
  description: 'What became of `verifyDomain`.',
  fields: (t) => ({
    domain: t.prismaField({
      type: Domain,
      description: 'The domain, with what was found of each record.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.domain.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }),
})

const RemoveDomainInput = builder.inputType('RemoveDomainInput', {
  description: 'The domain to remove.',
  fields: (t) => ({ domainId: t.field({ type: 'UUID', required: true, description: 'The domain.' }) }),
})

const RemoveDomainPayload = builder.objectRef<{ domainId: string }>('RemoveDomainPayload').implement({
  description: 'What became of `removeDomain`.',
  fields: (t) => ({ domainId: t.expose('domainId', { type: 'UUID', description: 'The id of the domain that is gone.' }) }),
})

builder.mutationFields((t) => ({
  addDomain: t.field({
    type: AddDomainPayload,
    nullable: true,
    description: 'Adds an email domain, to be verified. The same name again returns the same domain. For members.',
    args: { input: t.arg({ type: AddDomainInput, required: true, description: 'The domain.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { domain, created } = await addDomain(deps, viewer, checked({ name: domainName }, input))
      return { id: domain.id, created }
    },
  }),
  verifyDomain: t.field({
    type: VerifyDomainPayload,
    nullable: true,
    description: "Looks at a domain's DNS records now, which takes up to 6 seconds. For members.",
    args: { input: t.arg({ type: VerifyDomainInput, required: true, description: 'The domain.' }) },
    resolve: (_root, { input: { domainId } }, { deps, viewer }) => verifyDomain(deps, viewer, domainId),
  }),
  removeDomain: t.field({
    type: RemoveDomainPayload,
    nullable: true,
    description: 'Removes a domain that no agent has an address on. For members.',
    args: { input: t.arg({ type: RemoveDomainInput, required: true, description: 'The domain.' }) },
    resolve: async (_root, { input: { domainId } }, { deps, viewer }) => {
      await removeDomain(deps, viewer, domainId)
      return { domainId }
    },
  }),
}))
