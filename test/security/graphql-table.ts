import { randomInt, randomUUID } from 'node:crypto'

/**
 * Who may read and change what, for every field of the schema: a field without a row fails. Callers are the
 * owner and another member of the workspace, the agent itself, another agent (peer) of the workspace, and
 * another workspace's owner and agent (stranger).
 */
export const CALLERS = ['owner', 'member', 'self', 'peer', 'foreign', 'stranger'] as const
export type Caller = (typeof CALLERS)[number]
type Outcome = 'ok' | 'forbidden' | 'not_found' | 'invalid_input' | 'conflict'
type Rule = Record<Caller, Outcome>

const rule = (
  owner: Outcome,
  member: Outcome,
  self: Outcome,
  peer: Outcome,
  foreign: Outcome,
  stranger: Outcome,
): Rule => ({
  owner,
  member,
  self,
  peer,
  foreign,
  stranger,
})
/** For the data of one agent. */
const AGENT = rule('ok', 'ok', 'ok', 'forbidden', 'not_found', 'not_found')
/** For data that every caller has of their own. */
const OWN = rule('ok', 'ok', 'ok', 'ok', 'ok', 'ok')
/** For data that every member has of their own, and no agent. */
export const MEMBERS = rule('ok', 'ok', 'forbidden', 'forbidden', 'ok', 'forbidden')
/** For what only the agent's own token may do. */
const SELF = rule('forbidden', 'forbidden', 'ok', 'forbidden', 'not_found', 'not_found')
export const inAgent = (inner: string) => `query ($agentId: UUID!) { agent(id: $agentId) { ${inner} } }`
const inMessage = (inner: string) => `query ($messageId: UUID!) { message(id: $messageId) { ${inner} } }`
const inThread = (inner: string) => `query ($messageId: UUID!) { thread(id: $messageId) { ${inner} } }`

/**
 * A type: the query that reaches it (`%` stands for the field), its outcomes, its fields, and its fields that
 * only members can read.
 */
interface TypeRow {
  reach: string
  rule: Rule
  fields: string
  members?: string
}

const page = (field: string) => ({
  connection: inAgent(`${field} { % }`),
  edge: inAgent(`${field} { edges { % } }`),
})
const deliveries = {
  connection: inAgent('webhooks { deliveries { % } }'),
  edge: inAgent('webhooks { deliveries { edges { % } } }'),
}
const CONNECTION = { rule: AGENT, fields: 'edges pageInfo' }
const EDGE = { rule: AGENT, fields: 'cursor node' }
const LIMITED = 'agents members ownDomains webhooks sendsPerDay storedMessages phoneNumbers'

export const TYPES: Record<string, TypeRow> = {
  Service: {
    reach: '{ service { % } }',
    rule: OWN,
    fields: 'version publicUrl mailDomain smtp captured channels',
  },
  Viewer: {
    reach: '{ viewer { % } }',
    rule: OWN,
    fields: 'kind id name email role tokenId expiresAt scopes workspace agent may',
    members: 'tokens identities sessions passkeys views',
  },
  ViewerMay: {
    reach: '{ viewer { may { % } } }',
    rule: OWN,
    fields:
      'createAgents createTokens setAccess updateWorkspace manageDomains managePhoneNumbers inviteMembers inviteOwners removeMembers connect revealSecrets',
  },
  Workspace: {
    reach: '{ workspace { % } }',
    rule: OWN,
    fields: 'id name createdAt deletesAt settings plan',
    members:
      'members invitations domains phoneNumbers audit connectedApps messages threads webhooks mailHealth trace questions',
  },
  WorkspaceSettings: {
    reach: '{ workspace { settings { % } } }',
    rule: OWN,
    fields:
      'agentsMaySetAccess agentsMayCreateAgents requirePasskeys signIn keepRefusedDays keepMessagesDays keepRawDays',
  },
  CompanySignIn: {
    reach: '{ workspace { settings { signIn { % } } } }',
    rule: OWN,
    fields: 'issuer clientId domains role required redirectUrl logoutUrl',
  },
  Plan: { reach: '{ workspace { plan { % } } }', rule: OWN, fields: 'key limits usage changeAddress' },
  PlanLimits: { reach: '{ workspace { plan { limits { % } } } }', rule: OWN, fields: LIMITED },
  PlanUsage: { reach: '{ workspace { plan { usage { % } } } }', rule: OWN, fields: LIMITED },
  Member: {
    reach: '{ workspace { members { % } } }',
    rule: MEMBERS,
    fields: 'id email name role approvalMails questionMails createdAt',
  },
  ConnectedApp: {
    reach: '{ workspace { connectedApps { % } } }',
    rule: MEMBERS,
    fields:
      'id name host clientId agentId agentName memberId memberEmail scopes createdAt lastUsedAt expiresAt',
  },
  Invitation: {
    reach: '{ workspace { invitations { % } } }',
    rule: MEMBERS,
    fields: 'id email role expiresAt',
  },
  Domain: {
    reach: '{ workspace { domains { % } } }',
    rule: MEMBERS,
    fields: 'id name state catchAllAgentId checkedAt createdAt records',
  },
  DomainRecord: {
    reach: '{ workspace { domains { records { % } } } }',
    rule: MEMBERS,
    fields: 'purpose type name value priority required found ok problem',
  },
  MemberIdentity: {
    reach: '{ viewer { identities { % } } }',
    rule: MEMBERS,
    fields: 'channel value verifiedAt',
  },
  Session: {
    reach: '{ viewer { sessions { % } } }',
    rule: MEMBERS,
    fields: 'id memberId browser createdAt lastUsedAt expiresAt current',
  },
  Passkey: {
    reach: '{ viewer { passkeys { % } } }',
    rule: MEMBERS,
    fields: 'id memberId name createdAt lastUsedAt',
  },
  DayCounts: {
    reach: '{ counts { % } }',
    rule: MEMBERS,
    fields: 'day received refused refusals sent failed bounced reported deliveriesAccepted deliveriesFailed',
  },
  RefusalCount: { reach: '{ counts { refusals { % } } }', rule: MEMBERS, fields: 'reason count' },
  PhoneNumberOffer: {
    reach: '{ availablePhoneNumbers(country: "US") { % } }',
    rule: MEMBERS,
    fields: 'value locality price',
  },
  Price: {
    reach: '{ availablePhoneNumbers(country: "US") { price { % } } }',
    rule: MEMBERS,
    fields: 'amount currency',
  },
  PhoneNumber: {
    reach: '{ workspace { phoneNumbers { % } } }',
    rule: MEMBERS,
    fields: 'id value addressId createdAt',
  },
  Agent: {
    reach: inAgent('%'),
    rule: AGENT,
    fields:
      'id name icon approval instructors wakesPerHour wakesPerThreadDay wakeAfterSeconds eventTypes metadata manipulated secretsInMessages createdAt messageUrl activity listening unheardCount heldCount refusedCount signature templates addresses access messages threads lastMessage unreadCount secrets listeners webhooks tokens events suppressions drafts questions',
  },
  Address: {
    reach: inAgent('addresses { % }'),
    rule: AGENT,
    fields: 'id channel value domainId primary createdAt',
  },
  AgentAccess: { reach: inAgent('access { % }'), rule: AGENT, fields: 'email sms telegram url' },
  Access: { reach: inAgent('access { email { % } }'), rule: AGENT, fields: 'admit senders blocked' },
  Token: {
    reach: inAgent('tokens { % }'),
    rule: AGENT,
    fields: 'id name createdAt lastUsedAt expiresAt scopes parentId',
  },
  Secret: { reach: inAgent('secrets { % }'), rule: AGENT, fields: 'name kind setBy updatedAt expiresAt' },
  Listening: { reach: inAgent('listening { % }'), rule: AGENT, fields: 'now since' },
  Template: { reach: inAgent('templates { % }'), rule: AGENT, fields: 'name text' },
  SavedView: { reach: '{ viewer { views { % } } }', rule: MEMBERS, fields: 'name path' },
  DomainHealth: {
    reach: '{ workspace { mailHealth { % } } }',
    rule: MEMBERS,
    fields: 'domain sent bounced complained',
  },
  Listener: { reach: inAgent('listeners { % }'), rule: AGENT, fields: 'kind client machine id url' },
  Webhook: {
    reach: inAgent('webhooks { % }'),
    rule: AGENT,
    fields:
      'id agentId url name events createdAt pausedAt error attempts retryAt failingSince lastDeliveredAt deliveries blocking headers body',
  },
  Delivery: {
    reach: inAgent('webhooks { deliveries { edges { node { % } } } }'),
    rule: AGENT,
    fields: 'id eventId status attempts createdAt request',
  },
  DeliveryAttempt: {
    reach: inAgent('webhooks { deliveries { edges { node { attempts { % } } } } }'),
    rule: AGENT,
    fields: 'at status error ms answer',
  },
  Message: {
    reach: inMessage('%'),
    rule: AGENT,
    fields:
      'id addressId channel direction counterpart counterpartName replyAddress to cc bcc metadata subject text replyText segments attachments recipients thread threadId status refusal admission mayInstruct error checks labels readAt hold sentBy strangers createdAt preview rawUrl rawLink html htmlLink blockedImages headers agent codes conversation addressed attachment',
    members: 'hiddenText',
  },
  Attachment: { reach: inMessage('attachments { % }'), rule: AGENT, fields: 'name type size url link text' },
  AttachmentText: {
    reach: inMessage('attachments { text { % } }'),
    rule: AGENT,
    fields: 'format pages text nextOffset',
  },
  Code: { reach: inMessage('codes { % }'), rule: AGENT, fields: 'value kind purpose domain tracker' },
  AttachmentLink: { reach: inMessage('attachments { link { % } }'), rule: AGENT, fields: 'url expiresAt' },
  HeaderField: { reach: inMessage('headers { % }'), rule: AGENT, fields: 'name value' },
  Recipient: {
    reach: inMessage('recipients { % }'),
    rule: AGENT,
    fields: 'address status detail deliveredAt updatedAt',
  },
  Suppression: {
    reach: inAgent('suppressions { edges { node { % } } }'),
    rule: AGENT,
    fields: 'channel recipient reason detail createdAt',
  },
  Hold: { reach: inMessage('hold { % }'), rule: AGENT, fields: 'reason until by' },
  Check: { reach: inMessage('checks { % }'), rule: AGENT, fields: 'name verdict detail' },
  ThreadHeaders: { reach: inMessage('thread { % }'), rule: AGENT, fields: 'messageId references' },
  Thread: {
    reach: inThread('%'),
    rule: AGENT,
    fields:
      'id agentId channel subject participants messageCount unreadCount lastActivityAt lastMessage messages doneAt snoozedUntil assignedTo writers labels conversation transcript',
    members: 'notes',
  },
  Author: { reach: inMessage('sentBy { % }'), rule: AGENT, fields: 'kind id name' },
  ThreadMember: { reach: inThread('assignedTo { % }'), rule: AGENT, fields: 'id name' },
  ThreadNote: {
    reach: inThread('notes { % }'),
    rule: rule('ok', 'ok', 'forbidden', 'forbidden', 'not_found', 'not_found'),
    fields: 'id text createdAt author',
  },
  ThreadWriter: { reach: inThread('writers { % }'), rule: AGENT, fields: 'by updatedAt draftId' },
  Transcript: { reach: inThread('transcript { % }'), rule: AGENT, fields: 'entries more' },
  TranscriptEntry: {
    reach: inThread('transcript { entries { % } }'),
    rule: AGENT,
    fields: 'messageId at direction status from text isCut',
  },
  Participant: { reach: inThread('participants { % }'), rule: AGENT, fields: 'address name' },
  Event: {
    reach: inAgent('events { edges { node { % } } }'),
    rule: AGENT,
    fields:
      'id type channel messageId createdAt text refusal error hold question mayInstruct sender message addressed conversation threadId',
  },
  EndedQuestion: {
    reach: inAgent('events { edges { node { question { % } } } }'),
    rule: AGENT,
    fields: 'id status answer',
  },
  Answer: {
    reach: inAgent('events { edges { node { question { answer { % } } } } }'),
    rule: AGENT,
    fields: 'text by at through',
  },
  Question: {
    reach: '{ workspace { questions { % } } }',
    rule: MEMBERS,
    fields: 'id agentId agent text options to status answer createdAt expiresAt',
  },
  EventSender: {
    reach: inAgent('events { edges { node { sender { % } } } }'),
    rule: AGENT,
    fields: 'id kind name email phone',
  },
  PageInfo: {
    reach: inAgent('messages { pageInfo { % } }'),
    rule: AGENT,
    fields: 'hasNextPage hasPreviousPage startCursor endCursor',
  },
  MessageConnection: { reach: page('messages').connection, ...CONNECTION },
  MessageEdge: { reach: page('messages').edge, ...EDGE, fields: 'cursor node highlights' },
  Highlight: {
    reach: inAgent('messages { edges { highlights { % } } }'),
    rule: AGENT,
    fields: 'field parts',
  },
  HighlightPart: {
    reach: inAgent('messages { edges { highlights { parts { % } } } }'),
    rule: AGENT,
    fields: 'text matched',
  },
  ThreadConnection: { reach: page('threads').connection, ...CONNECTION },
  ThreadEdge: { reach: page('threads').edge, ...EDGE },
  EventConnection: { reach: page('events').connection, ...CONNECTION },
  EventEdge: { reach: page('events').edge, ...EDGE },
  SuppressionConnection: { reach: page('suppressions').connection, ...CONNECTION },
  SuppressionEdge: { reach: page('suppressions').edge, ...EDGE },
  AuditConnection: { reach: '{ workspace { audit { % } } }', rule: MEMBERS, fields: 'edges pageInfo' },
  AuditEdge: { reach: '{ workspace { audit { edges { % } } } }', rule: MEMBERS, fields: 'cursor node' },
  AuditEntry: {
    reach: '{ workspace { audit { edges { node { % } } } } }',
    rule: MEMBERS,
    fields: 'id action actor agentId detail createdAt',
  },
  Trace: {
    reach: 'query ($messageId: String!) { workspace { trace(what: $messageId) { % } } }',
    rule: MEMBERS,
    fields: 'kind subject owner agentId threadId moments',
  },
  TraceMoment: {
    reach: 'query ($messageId: String!) { workspace { trace(what: $messageId) { moments { % } } } }',
    rule: MEMBERS,
    fields: 'at kind subject detail',
  },
  AuditActor: {
    reach: '{ workspace { audit { edges { node { actor { % } } } } } }',
    rule: MEMBERS,
    fields: 'kind id name tokenId',
  },
  QuestionConnection: { reach: page('questions').connection, ...CONNECTION },
  QuestionEdge: { reach: page('questions').edge, ...EDGE },
  DraftConnection: { reach: page('drafts').connection, ...CONNECTION },
  DraftEdge: { reach: page('drafts').edge, ...EDGE },
  Draft: {
    reach: inAgent('drafts { edges { node { % } } }'),
    rule: AGENT,
    fields:
      'id text html replyTo replyAll forward channel to cc bcc metadata conversation subject sendAt attachments createdAt updatedAt savedBy',
  },
  DraftFile: {
    reach: inAgent('drafts { edges { node { attachments { % } } } }'),
    rule: AGENT,
    fields: 'name type size',
  },
  DeliveryRequest: {
    reach: inAgent('webhooks { deliveries { edges { node { request { % } } } } }'),
    rule: AGENT,
    fields: 'url headers body',
  },
  DeliveryAnswer: {
    reach: inAgent('webhooks { deliveries { edges { node { attempts { answer { % } } } } } }'),
    rule: AGENT,
    fields: 'headers body',
  },
  HttpHeader: {
    reach: inAgent('webhooks { deliveries { edges { node { request { headers { % } } } } } }'),
    rule: AGENT,
    fields: 'name value',
  },
  DeliveryConnection: { reach: deliveries.connection, ...CONNECTION },
  DeliveryEdge: { reach: deliveries.edge, ...EDGE },
  Connection: {
    reach:
      'mutation ($agentId: UUID!) { connect(input: { agentId: $agentId, client: "c", machine: "m" }) { connection { % } } }',
    rule: SELF,
    fields: 'id client machine tokenId',
  },
  MessageMarks: {
    reach:
      'mutation ($agentId: UUID!, $messageId: UUID!) { markMessages(input: { agentId: $agentId, ids: [$messageId] }) { marks { % } } }',
    rule: AGENT,
    fields: 'id labels readAt metadata',
  },
  TakenCode: {
    reach: 'mutation ($agentId: UUID!) { takeCode(input: { agentId: $agentId }) { code { % } } }',
    rule: AGENT,
    fields: 'value kind purpose domain tracker messageId from at',
  },
  RevealedSecret: {
    reach: 'mutation ($agentId: UUID!) { revealSecrets(input: { agentId: $agentId }) { secrets { % } } }',
    rule: SELF,
    fields: 'name value',
  },
}

/** Types that only a subscription returns, whose row covers them. */
export const SUBSCRIPTION_ONLY = {
  WebhookChange: 'webhookId webhook',
  WorkspaceChanges: 'position truncated changes',
  WorkspaceChange: 'kind agentId ids',
}

export interface Target {
  agentId: string
  addressId: string
  tokenId: string
  webhookId: string
  deliveryId: string
  messageId: string
  /** Senders on the lists of its email channel. */
  listed: string
  blocked: string
  draftId: string
  memberId: string
  domainId: string
  phoneNumberId: string
  invitationId: string
  ownTokenId: string
  appId: string
  sessionId: string
  passkeyId: string
  workspaceId: string
}

interface MutationRow {
  input(target: Target): object
  rule: Rule
}
const ofAgent = ({ agentId }: Target) => ({ agentId })
const ofWebhook = ({ agentId, webhookId }: Target) => ({ agentId, webhookId })
const ofMessage = ({ agentId, messageId }: Target) => ({ agentId, messageId })
const NOTHING_HELD = rule('not_found', 'not_found', 'not_found', 'forbidden', 'not_found', 'not_found')
/** For ids in a workspace, which other workspaces do not find. */
const OWNERS = rule('ok', 'forbidden', 'forbidden', 'forbidden', 'not_found', 'forbidden')
const MEMBERS_WRONG = rule(
  'invalid_input',
  'invalid_input',
  'forbidden',
  'forbidden',
  'invalid_input',
  'forbidden',
)
const MEMBERS_MISSING = rule('not_found', 'not_found', 'forbidden', 'forbidden', 'not_found', 'forbidden')
const MEMBERS_ID = rule('ok', 'ok', 'forbidden', 'forbidden', 'not_found', 'forbidden')

export const MUTATIONS: Record<string, MutationRow> = {
  createAgent: { rule: OWN, input: () => ({ name: 'New', icon: 'bot' }) },
  updateAgent: { rule: AGENT, input: (t) => ({ ...ofAgent(t), name: 'Renamed' }) },
  deleteAgent: { rule: AGENT, input: ofAgent },
  changeAddress: {
    rule: AGENT,
    input: ({ agentId, addressId }) => ({ agentId, addressId, value: `${randomUUID()}@agents.localhost` }),
  },
  removeAddress: { rule: AGENT, input: ({ agentId, addressId }) => ({ agentId, addressId }) },
  setUpAddress: { rule: AGENT, input: (t) => ({ ...ofAgent(t), channel: 'telegram' }) },
  setAccess: { rule: AGENT, input: (t) => ({ ...ofAgent(t), channel: 'email', senders: [] }) },
  allowSender: { rule: AGENT, input: (t) => ({ ...ofAgent(t), channel: 'email', sender: 'bo@example.com' }) },
  disallowSender: { rule: AGENT, input: (t) => ({ ...ofAgent(t), channel: 'email', sender: t.listed }) },
  blockSender: { rule: AGENT, input: (t) => ({ ...ofAgent(t), channel: 'email', sender: 'bo@example.com' }) },
  unblockSender: { rule: AGENT, input: (t) => ({ ...ofAgent(t), channel: 'email', sender: t.blocked }) },
  createToken: { rule: { ...AGENT, self: 'forbidden' }, input: ofAgent },
  revokeToken: { rule: AGENT, input: ({ agentId, tokenId }) => ({ agentId, tokenId }) },
  connect: { rule: SELF, input: (t) => ({ ...ofAgent(t), client: 'c', machine: 'm' }) },
  sendMessage: {
    rule: AGENT,
    input: (t) => ({ ...ofAgent(t), text: 'hi', channel: 'email', to: ['bo@example.com'] }),
  },
  markMessage: {
    rule: AGENT,
    input: ({ agentId, messageId }) => ({ agentId, messageId, labels: ['orders'] }),
  },
  markMessages: {
    rule: AGENT,
    input: ({ agentId, messageId }) => ({ agentId, ids: [messageId], read: true }),
  },
  updateThreads: {
    rule: AGENT,
    input: ({ agentId, messageId: threadId }) => ({ threads: [{ agentId, threadId }], done: true }),
  },
  addThreadNote: {
    rule: MEMBERS_ID,
    input: (t) => ({ ...ofAgent(t), threadId: t.messageId, text: 'Call her' }),
  },
  deleteThreadNote: {
    rule: MEMBERS_MISSING,
    input: (t) => ({ ...ofAgent(t), threadId: t.messageId, noteId: t.messageId }),
  },
  // Its delivery was accepted, so no other waits for it.
  unblockWebhook: {
    rule: rule('conflict', 'conflict', 'conflict', 'forbidden', 'not_found', 'not_found'),
    input: (t) => ({ ...ofWebhook(t), deliveryId: t.deliveryId, skip: false }),
  },
  takeCode: { rule: AGENT, input: ofAgent },
  askQuestion: { rule: AGENT, input: (t) => ({ ...ofAgent(t), text: 'Refund?' }) },
  // There is no such question.
  answerQuestion: {
    rule: MEMBERS_MISSING,
    input: (t) => ({ ...ofAgent(t), questionId: t.messageId, text: 'Yes' }),
  },
  withdrawQuestion: { rule: NOTHING_HELD, input: (t) => ({ ...ofAgent(t), questionId: t.messageId }) },
  saveDraft: { rule: AGENT, input: (t) => ({ ...ofAgent(t), text: 'hi' }) },
  deleteDraft: { rule: AGENT, input: ({ agentId, draftId }) => ({ agentId, draftId }) },
  sendDraft: { rule: AGENT, input: ({ agentId, draftId }) => ({ agentId, draftId }) },
  // The message was received, so nothing waits.
  approveMessage: { rule: NOTHING_HELD, input: ofMessage },
  rejectMessage: { rule: NOTHING_HELD, input: ofMessage },
  cancelMessage: { rule: NOTHING_HELD, input: ofMessage },
  // The message does not say how to unsubscribe.
  unsubscribe: {
    rule: rule('conflict', 'conflict', 'conflict', 'forbidden', 'not_found', 'not_found'),
    input: ofMessage,
  },
  rescheduleMessage: {
    rule: NOTHING_HELD,
    input: (t) => ({ ...ofMessage(t), sendAt: new Date(Date.now() + 3_600_000).toISOString() }),
  },
  releaseMessage: { rule: AGENT, input: ({ agentId, messageId }) => ({ agentId, messageId }) },
  releaseMessages: { rule: AGENT, input: ({ agentId, messageId }) => ({ agentId, ids: [messageId] }) },
  deleteMessages: { rule: AGENT, input: ({ agentId, messageId }) => ({ agentId, ids: [messageId] }) },
  // The access list of a Message URL contains only the agent's creator, who is the owner.
  sendToUrl: {
    rule: rule('ok', 'forbidden', 'forbidden', 'forbidden', 'not_found', 'not_found'),
    input: (t) => ({ ...ofAgent(t), text: 'hi' }),
  },
  removeSuppression: { rule: AGENT, input: (t) => ({ ...ofAgent(t), recipient: 'gone@example.com' }) },
  setSecret: { rule: AGENT, input: (t) => ({ ...ofAgent(t), name: 'NEW', value: 'v' }) },
  deleteSecret: { rule: AGENT, input: (t) => ({ ...ofAgent(t), name: 'KEY' }) },
  revealSecrets: { rule: SELF, input: ofAgent },
  addWebhook: { rule: AGENT, input: (t) => ({ ...ofAgent(t), url: 'http://127.0.0.1:9/another' }) },
  updateWebhook: { rule: AGENT, input: (t) => ({ ...ofWebhook(t), name: 'CRM' }) },
  removeWebhook: { rule: AGENT, input: ofWebhook },
  rotateWebhook: { rule: AGENT, input: ofWebhook },
  testWebhook: { rule: AGENT, input: ofWebhook },
  resendDelivery: {
    rule: AGENT,
    input: ({ agentId, webhookId, deliveryId }) => ({ agentId, webhookId, deliveryId }),
  },
  resendGivenUp: { rule: AGENT, input: (t) => ({ ...ofWebhook(t), since: '2026-01-01T00:00:00Z' }) },
  replayWebhook: { rule: AGENT, input: (t) => ({ ...ofWebhook(t), after: 0 }) },
  updateWorkspace: { rule: MEMBERS, input: () => ({ name: 'Renamed' }) },
  deleteWorkspace: { rule: OWNERS, input: ({ workspaceId }) => ({ workspaceId }) },
  restoreWorkspace: { rule: OWNERS, input: ({ workspaceId }) => ({ workspaceId }) },
  inviteMember: { rule: MEMBERS, input: () => ({ email: `${randomUUID()}@example.com` }) },
  revokeInvitation: { rule: MEMBERS_ID, input: ({ invitationId }) => ({ invitationId }) },
  updateOwnMember: { rule: MEMBERS, input: () => ({ name: 'Ann' }) },
  changeRole: { rule: OWNERS, input: ({ memberId }) => ({ memberId, role: 'member' }) },
  removeMember: { rule: OWNERS, input: ({ memberId }) => ({ memberId }) },
  addDomain: { rule: MEMBERS, input: () => ({ name: `${randomUUID()}.example` }) },
  verifyDomain: { rule: MEMBERS_ID, input: ({ domainId }) => ({ domainId }) },
  updateDomain: { rule: MEMBERS_ID, input: ({ domainId }) => ({ domainId, catchAllAgentId: null }) },
  removeDomain: { rule: MEMBERS_ID, input: ({ domainId }) => ({ domainId }) },
  claimIdentity: { rule: MEMBERS, input: () => ({ channel: 'sms', value: '+15551234567' }) },
  linkTelegram: { rule: MEMBERS_ID, input: ofAgent },
  verifyIdentity: { rule: MEMBERS_WRONG, input: () => ({ channel: 'sms', code: '000000' }) },
  removeIdentity: { rule: MEMBERS_MISSING, input: () => ({ channel: 'sms', value: '+15550000000' }) },
  buyPhoneNumber: { rule: MEMBERS, input: () => ({ value: `+1500${randomInt(1e7, 1e8)}` }) },
  releasePhoneNumber: { rule: MEMBERS_ID, input: ({ phoneNumberId }) => ({ phoneNumberId }) },
  disconnectApp: { rule: MEMBERS_ID, input: ({ appId }) => ({ appId }) },
  removePasskey: {
    rule: rule('ok', 'not_found', 'forbidden', 'forbidden', 'not_found', 'forbidden'),
    input: ({ passkeyId }) => ({ passkeyId }),
  },
  revokeSession: {
    rule: rule('ok', 'not_found', 'forbidden', 'forbidden', 'not_found', 'forbidden'),
    input: ({ sessionId }) => ({ sessionId }),
  },
  revokeSessions: { rule: OWNERS, input: ({ memberId }) => ({ memberId }) },
  createOwnToken: { rule: MEMBERS, input: () => ({ name: 'another' }) },
  revokeOwnToken: {
    rule: rule('ok', 'not_found', 'forbidden', 'forbidden', 'not_found', 'forbidden'),
    input: ({ ownTokenId }) => ({ tokenId: ownTokenId }),
  },
}
/** Mutations that are a conflict even for callers who may do them. */
export const CONFLICTS = ['removeAddress']

export const QUERIES: Record<string, { query: string; rule: Rule }> = {
  viewer: { query: '{ viewer { id } }', rule: OWN },
  service: { query: '{ service { version } }', rule: OWN },
  sessions: {
    query: 'query ($memberId: UUID!) { sessions(memberId: $memberId) { id } }',
    rule: OWNERS,
  },
  workspace: { query: '{ workspace { id } }', rule: OWN },
  passkeys: {
    query: 'query ($memberId: UUID!) { passkeys(memberId: $memberId) { id } }',
    rule: OWNERS,
  },
  availablePhoneNumbers: { query: '{ availablePhoneNumbers(country: "US") { value } }', rule: MEMBERS },
  agents: { query: '{ agents { id } }', rule: OWN },
  counts: { query: 'query ($agentId: UUID!) { counts(agentId: $agentId) { day } }', rule: AGENT },
  agent: { query: inAgent('id'), rule: AGENT },
  message: { query: inMessage('id'), rule: AGENT },
  thread: { query: inThread('id'), rule: AGENT },
  // A thread of another agent is null.
  threadsOf: { query: 'query ($messageId: UUID!) { threadsOf(messageIds: [$messageId]) { id } }', rule: OWN },
  // There is no such question.
  question: {
    query:
      'query ($agentId: UUID!, $messageId: UUID!) { question(agentId: $agentId, id: $messageId) { id } }',
    rule: NOTHING_HELD,
  },
  draft: {
    query: 'query ($agentId: UUID!, $draftId: UUID!) { draft(agentId: $agentId, id: $draftId) { id } }',
    rule: AGENT,
  },
}

export const SUBSCRIPTIONS: Record<string, { query: string; rule: Rule }> = {
  messageReceived: {
    query: 'subscription ($agentId: UUID!) { messageReceived(agentId: $agentId, after: 0) { id } }',
    rule: AGENT,
  },
  messageChanged: {
    query: 'subscription ($agentId: UUID!) { messageChanged(agentId: $agentId) { id } }',
    rule: AGENT,
  },
  webhookChanged: {
    query:
      'subscription ($agentId: UUID!) { webhookChanged(agentId: $agentId) { webhookId webhook { id } } }',
    rule: AGENT,
  },
  workspaceChanged: { query: 'subscription { workspaceChanged { position } }', rule: MEMBERS },
}
