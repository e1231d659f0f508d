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
import { exposed, mutation, objectOf, removal } from '../../builder/rendered.ts'
import { batched } from '../../context/batch.ts'
import type { GraphqlContext } from '../../context/context.ts'
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

/** Reads the domain that a mutation returned, with what is selected of it. */
const domainOf = (
  query: object,
  { result: { id } }: { result: { id: string } },
  _args: object,
  { deps }: GraphqlContext,
) => deps.prisma.domain.findUniqueOrThrow({ ...query, where: { id } })

mutation(addDomain, 'The domain to add.', (t) => ({
  domain: t.prismaField({
    type: Domain,
    description: 'The domain, with the records to publish.',
    resolve: domainOf,
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
    resolve: domainOf,
  }),
}))

mutation(updateDomain, 'The changes to a domain. Fields left out are not changed.', (t) => ({
  domain: t.prismaField({ type: Domain, description: 'The updated domain.', resolve: domainOf }),
}))

removal(removeDomain, 'The domain to remove.', { domainId: 'The id of the removed domain.' })
