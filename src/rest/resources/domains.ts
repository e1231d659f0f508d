import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { domainName } from '../../core/rules.ts'
import {
  addDomain,
  type Domain,
  type DomainDeps,
  findDomain,
  listDomains,
  presentDomain,
  recordsOf,
  removeDomain,
} from '../../email-domain/domain.ts'
import { verifyDomain } from '../../email-domain/verify.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, NO_CONTENT, ok, SECURITY } from '../route.ts'
import { DomainView, DomainWithRecordsView } from './domain-views.ts'

const tags = ['Domains']
const security = SECURITY

const list = createRoute({
  method: 'get',
  path: '/domains',
  operationId: 'listDomains',
  summary: "List the workspace's own email domains (members only)",
  tags,
  security,
  responses: { 200: ok('By name', z.array(DomainView)), ...failures('forbidden') },
})

const add = createRoute({
  method: 'post',
  path: '/domains',
  operationId: 'addDomain',
  summary: 'Add an email domain (members only)',
  description:
    'Publish its `records` in DNS, then verify it. Names with characters outside ASCII are converted to their `xn--…` form. Adding the same name again returns the existing domain. Several workspaces can add the same name; the one that proves ownership gets it.',
  tags,
  security,
  request: body(z.strictObject({ name: domainName }).openapi({ example: { name: 'example.com' } })),
  responses: {
    201: ok('The domain with the records to publish', DomainWithRecordsView),
    200: ok('It already existed', DomainWithRecordsView),
    ...failures('body', 'forbidden', 'plan', 'conflict'),
  },
})

const read = createRoute({
  method: 'get',
  path: '/domains/{domainId}',
  operationId: 'readDomain',
  summary: 'Get a domain with its DNS records (members only)',
  tags,
  security,
  request: { params: ids('domainId') },
  responses: {
    200: ok('The domain, with what the last check found for each record', DomainWithRecordsView),
    ...failures('missing', 'forbidden'),
  },
})

const verify = createRoute({
  method: 'post',
  path: '/domains/{domainId}/verify',
  operationId: 'verifyDomain',
  summary: "Check a domain's DNS records now (members only)",
  description:
    'The domain becomes `verified` when the required records (ownership, MX, DKIM) are correct and no other workspace proves ownership of the same name; SPF and DMARC are recommended. A verified domain whose records are wrong becomes `broken`. If DNS does not answer, nothing changes. Takes up to 6 seconds. Domains are also checked automatically every day: a domain becomes `broken` if its records are wrong in two checks an hour apart, and the owners are notified by email.',
  tags,
  security,
  request: { params: ids('domainId') },
  responses: {
    200: ok('The domain, with what was found for each record', DomainWithRecordsView),
    ...failures('missing', 'forbidden', 'conflict'),
  },
})

const remove = createRoute({
  method: 'delete',
  path: '/domains/{domainId}',
  operationId: 'removeDomain',
  summary: 'Remove a domain on which no agent has an address (members only)',
  tags,
  security,
  request: { params: ids('domainId') },
  responses: { 204: NO_CONTENT, ...failures('missing', 'forbidden', 'conflict') },
})

const withRecords = async (deps: DomainDeps, domain: Domain) => ({
  ...presentDomain(domain),
  records: await recordsOf(deps, domain),
})

export const domainRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) =>
    c.json((await listDomains(c.var.deps, c.var.viewer)).map(presentDomain), 200),
  )
  app.openapi(add, async (c) => {
    const { domain, created } = await addDomain(c.var.deps, c.var.viewer, c.req.valid('json'))
    return c.json(await withRecords(c.var.deps, domain), created ? 201 : 200)
  })
  app.openapi(read, async (c) => {
    const domain = await findDomain(c.var.deps, c.var.viewer, c.req.valid('param').domainId)
    return c.json(await withRecords(c.var.deps, domain), 200)
  })
  app.openapi(verify, async (c) => {
    const domain = await verifyDomain(c.var.deps, c.var.viewer, c.req.valid('param').domainId)
    return c.json(await withRecords(c.var.deps, domain), 200)
  })
  app.openapi(remove, async (c) => {
    await removeDomain(c.var.deps, c.var.viewer, c.req.valid('param').domainId)
    return c.body(null, 204)
  })
}
