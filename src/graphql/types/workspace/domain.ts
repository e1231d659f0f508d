import {
  addDomain,
  Domain as DOMAIN,
  DomainRecord,
  removeDomain,
  updateDomain,
  verifyDomain,
} from '../../../api/workspace/domain.ts'
import { recordsOfAll } from '../../../email-domain/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { exposed, mutation, objectOf } from '../../builder/rendered.ts'
import { batched } from '../../context/batch.ts'
import { Workspace } from './workspace.ts'

const Domain = builder.prismaObject('Domain', {
  description: DOMAIN.sentence,
  select: { id: true },
  fields: (t) => ({
    ...exposed(t, DOMAIN.fields),
    records: t.field({
      type: [objectOf(DomainRecord)],
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

mutation(addDomain, 'The domain to add.', (t) => ({
  domain: t.prismaField({
    type: Domain,
    description: 'The domain, with the records to publish.',
    resolve: (query, { result: { id } }, _args, { deps }) =>
      deps.prisma.domain.findUniqueOrThrow({ ...query, where: { id } }),
  }),
  created: t.boolean({
    description: 'True if it is new; false if the workspace already had it.',
    resolve: ({ result }) => result.created,
  }),
}))

mutation(verifyDomain, 'The domain to check.', (t) => ({
  domain: t.prismaField({
    type: Domain,
    description: 'The domain, with what was found for each record.',
    resolve: (query, { result: { id } }, _args, { deps }) =>
      deps.prisma.domain.findUniqueOrThrow({ ...query, where: { id } }),
  }),
}))

mutation(updateDomain, 'The changes to a domain. Fields left out are not changed.', (t) => ({
  domain: t.prismaField({
    type: Domain,
    description: 'The updated domain.',
    resolve: (query, { result: { id } }, _args, { deps }) =>
      deps.prisma.domain.findUniqueOrThrow({ ...query, where: { id } }),
  }),
}))

mutation(removeDomain, 'The domain to remove.', (t) => ({
  domainId: t.field({
    type: 'UUID',
    description: 'The id of the removed domain.',
    resolve: ({ input }) => input.domainId,
  }),
}))
