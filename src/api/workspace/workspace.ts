import { z } from 'zod'
import { checkIssuer } from '../../auth/index.ts'
import {
  clientId,
  clientSecret,
  companyDomains,
  issuerUrl,
  keepDays,
  keepRefusedDays,
  workspaceName,
} from '../../core/rules.ts'
import {
  presentWorkspace,
  readWorkspace as read,
  cancelDeletion as restore,
  scheduleDeletion as schedule,
  type Usage,
  updateWorkspace as update,
} from '../../workspace/index.ts'
import { MemberRole } from '../choices.ts'
import { ID, TIME } from '../example.ts'
import { one, operation } from '../operation.ts'
import { count, detail, group, id, part, resource, says, text, texts, time } from '../resource.ts'

/** What plans limit. */
const LIMITED: Record<keyof Usage, string> = {
  agents: 'Agents.',
  members: 'Members.',
  ownDomains: "The workspace's own domains.",
  webhooks: 'Webhooks across all agents.',
  sendsPerDay: 'Messages sent in 24 hours.',
  storedMessages: 'Stored messages, not counting refused ones.',
  phoneNumbers: 'Phone numbers.',
}

const amounts = <Rule extends z.ZodType>(amount: (sentence: string) => Rule) =>
  Object.fromEntries(Object.entries(LIMITED).map(([name, sentence]) => [name, amount(sentence)])) as Record<
    keyof Usage,
    Rule
  >

const PlanLimits = detail(
  'PlanLimits',
  'The limits of a plan. Null means no limit.',
  amounts((sentence) => count(sentence).nullable()),
)

const PlanUsage = detail(
  'PlanUsage',
  "A workspace's current usage of the quantities that plans limit. `sendsPerDay` counts the last 24 hours.",
  amounts(count),
)

export const Plan = detail('Plan', "A workspace's plan: what it includes and the current usage.", {
  key: says(z.string().meta({ example: 'unlimited' }), 'Its name.'),
  limits: part(PlanLimits),
  usage: part(PlanUsage),
  changeAddress: says(
    z.boolean(),
    'Whether the email address that the service assigns to an agent can be changed.',
  ),
})

const SETTINGS = {
  agentsMaySetAccess: 'Whether agents may set who can send messages on their channels.',
  agentsMayCreateAgents: 'Whether agents may create agents.',
  requirePasskeys: 'Whether members need a passkey, or the account of their company, to sign in.',
  signIn: 'How members sign in with the account of their company; null if they do not.',
  keepRefusedDays: 'Days after which refused messages are deleted',
  keepMessagesDays: 'Days after which all other messages are deleted',
  keepRawDays: 'Days after which the originals of received emails are deleted',
}

const SIGN_IN = {
  issuer: "The provider's issuer: an https URL on the public internet.",
  clientId: 'Id of this service at the provider.',
  domains: 'Domains of the email addresses that it may sign in.',
  role: 'Role of those who become members by signing in: never `owner`.',
  required:
    'Whether members with such addresses have no other way to sign in. Owners keep the link of the operator.',
}

const CompanySignIn = detail(
  'CompanySignIn',
  "The OpenID provider of a company, with which members sign in. The client's secret is never shown.",
  {
    issuer: text(SIGN_IN.issuer),
    clientId: text(SIGN_IN.clientId),
    domains: texts(SIGN_IN.domains),
    role: says(MemberRole, SIGN_IN.role),
    required: says(z.boolean(), SIGN_IN.required),
    redirectUrl: text('The redirect URI to register with the provider.'),
    logoutUrl: text('The back-channel logout URI to register with the provider, if it has one.'),
  },
)

const CompanySignInInput = group(
  'CompanySignInInput',
  'The OpenID provider of a company, with which members sign in. It replaces what was set.',
  {
    issuer: says(issuerUrl, SIGN_IN.issuer),
    clientId: says(clientId, SIGN_IN.clientId),
    clientSecret: says(
      clientSecret,
      "The client's secret. Left out, the one that is set is kept, if the issuer and the client are the same.",
    ).optional(),
    domains: says(companyDomains, `${SIGN_IN.domains} They must be verified domains of the workspace.`),
    role: says(MemberRole, `${SIGN_IN.role} Left out, it stays as it is, at first \`member\`.`).optional(),
    required: says(
      z.boolean(),
      `${SIGN_IN.required} Left out, it stays as it is, at first false.`,
    ).optional(),
  },
)

const WorkspaceSettings = detail(
  'WorkspaceSettings',
  'What agents may do on their own, how members sign in, and how long messages are kept.',
  {
    agentsMaySetAccess: says(z.boolean(), SETTINGS.agentsMaySetAccess),
    agentsMayCreateAgents: says(z.boolean(), SETTINGS.agentsMayCreateAgents),
    requirePasskeys: says(z.boolean(), SETTINGS.requirePasskeys),
    signIn: part(CompanySignIn, SETTINGS.signIn).nullable(),
    keepRefusedDays: count(`${SETTINGS.keepRefusedDays}.`),
    keepMessagesDays: count(`${SETTINGS.keepMessagesDays}; null means never.`).nullable(),
    keepRawDays: count(`${SETTINGS.keepRawDays}; null means never.`).nullable(),
  },
)

export const Workspace = resource(
  'Workspace',
  'A tenant with its members and agents, isolated from all others.',
  {
    fields: {
      id: id('Unique identifier.'),
      name: text('Its name.'),
      plan: part(Plan, 'The plan and its current usage.'),
      settings: part(WorkspaceSettings),
      deletesAt: time(
        'When the workspace will be deleted, as an owner has asked; null if it is not.',
      ).nullable(),
      createdAt: time('When it was created.'),
    },
    example: {
      id: ID,
      name: 'Acme',
      plan: {
        key: 'free',
        limits: {
          agents: 3,
          members: 3,
          ownDomains: 0,
          webhooks: 3,
          sendsPerDay: 100,
          storedMessages: 5000,
          phoneNumbers: 1,
        },
        usage: {
          agents: 1,
          members: 2,
          ownDomains: 0,
          webhooks: 1,
          sendsPerDay: 12,
          storedMessages: 340,
          phoneNumbers: 0,
        },
        changeAddress: false,
      },
      settings: {
        agentsMaySetAccess: true,
        agentsMayCreateAgents: true,
        requirePasskeys: false,
        signIn: null,
        keepRefusedDays: 30,
        keepMessagesDays: null,
        keepRawDays: 365,
      },
      deletesAt: null,
      createdAt: TIME,
    },
  },
)

const tag = 'Workspace'

export const readWorkspace = operation({
  name: 'readWorkspace',
  says: 'Returns the workspace with its plan and current usage.',
  rest: 'GET /workspace',
  tag,
  scope: 'settings',
  input: {},
  fails: [],
  output: one(Workspace, 'The workspace.'),
  run: async (deps, viewer) => presentWorkspace(await read(deps, viewer)),
})

export const updateWorkspace = operation({
  name: 'updateWorkspace',
  says: "Changes the workspace's name, what agents may do on their own, how members sign in, or how long messages are kept. The name is for members, all else for owners.",
  rest: 'PATCH /workspace',
  tag,
  scope: 'settings',
  input: {
    name: says(workspaceName, 'Its name.').optional(),
    agentsMaySetAccess: says(z.boolean(), SETTINGS.agentsMaySetAccess).optional(),
    agentsMayCreateAgents: says(z.boolean(), SETTINGS.agentsMayCreateAgents).optional(),
    requirePasskeys: says(
      z.boolean(),
      `${SETTINGS.requirePasskeys} When it is switched on, sessions without one only allow to register one, or to sign in with it.`,
    ).optional(),
    signIn: says(CompanySignInInput, SETTINGS.signIn).nullable().optional(),
    keepRefusedDays: says(keepRefusedDays, `${SETTINGS.keepRefusedDays}: 1 to 365.`).optional(),
    keepMessagesDays: says(keepDays, `${SETTINGS.keepMessagesDays}: 1 to 36500; null means never.`)
      .nullable()
      .optional(),
    keepRawDays: says(keepDays, `${SETTINGS.keepRawDays}: 1 to 36500; null means never.`)
      .nullable()
      .optional(),
  },
  example: { agentsMayCreateAgents: false },
  fails: ['forbidden', 'conflict'],
  output: one(Workspace, 'The updated workspace.'),
  run: async (deps, viewer, changes) => {
    if (changes.signIn) await checkIssuer(deps, viewer, changes.signIn.issuer)
    return presentWorkspace(await update(deps, viewer, changes))
  },
})

export const deleteWorkspace = operation({
  name: 'deleteWorkspace',
  says: 'Deletes the workspace in 24 hours. Its agents, messages, secrets, domains and members are deleted with it, and its phone numbers are released. Until `deletesAt`, everything works as before, and an owner can cancel it. Every owner is told by email. Asking again does not postpone it. `GET /export` exports everything before. Owners only.',
  rest: 'DELETE /workspace',
  tag,
  scope: 'settings',
  input: {},
  fails: ['forbidden'],
  output: one(Workspace, 'The workspace, with `deletesAt`.'),
  run: async (deps, viewer) => presentWorkspace(await schedule(deps, viewer)),
})

export const restoreWorkspace = operation({
  name: 'restoreWorkspace',
  says: 'Cancels the deletion of the workspace. Changes nothing if none was requested. `conflict` once it has begun. Owners only.',
  rest: 'POST /workspace/restore',
  tag,
  scope: 'settings',
  key: 'ignored',
  input: {},
  fails: ['input', 'forbidden', 'conflict'],
  output: one(Workspace, 'The workspace.'),
  run: async (deps, viewer) => presentWorkspace(await restore(deps, viewer)),
})
