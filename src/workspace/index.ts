export { type Action, type Actor, audit, auditSends, OPERATOR } from './change/audit.ts'
export {
  CHANGE_KINDS,
  type ChangeKind,
  type ChangePosition,
  type ChangesRead,
  endChangePositions,
  isSnapshot,
  noteChange,
  noteChanges,
  noteNameless,
  pruneChanges,
  readChangePosition,
  readChanges,
  WORKSPACE_CHANGED,
} from './change/change-log.ts'
export { ensureNotMoving, isMoving, isMovingAgent, movingError, WORKSPACE_MOVES } from './change/moving.ts'
export {
  companyPath,
  openClientSecret,
  presentCompanySignIn,
  provenAmong,
  SEALED_COMPANY_SECRETS,
} from './company-sign-in.ts'
export {
  cancelDeletion,
  condemn,
  deleteRecords,
  deleteRow,
  endTokens,
  findCondemned,
  scheduleDeletion,
} from './deletion.ts'
export {
  finishDataKeys,
  NIL,
  type Resealed,
  replaceDataKey,
  type SealedColumn,
} from './encryption/data-keys.ts'
export {
  createKeyring,
  decrypt,
  deriveKey,
  encrypt,
  type Keyring,
  notificationCiphers,
  type OtherKeys,
  readKeyTest,
  rewrapDataKeys,
  rewrapped,
  UnreadableError,
} from './encryption/keyring.ts'
export { once, pruneIdempotencyKeys, readAttempt } from './idempotency.ts'
export { type Attempt, KeyReused, SEALED_ANSWERS } from './idempotency-record.ts'
export { callExternally, type ExternalCallDeps, ExternalCalls } from './limit/external-calls.ts'
export { ensureWritable, overQuota, pruneRates, RateLimits } from './limit/rate-limits.ts'
export { type StreamLimits, StreamPlaces } from './limit/stream-places.ts'
export { costOfBody, countRequest, createTokenRequests, type QuotaDeps } from './limit/token-requests.ts'
export { type CompanyPerson, memberOfCompany } from './member/company-member.ts'
export { type Decider, deciderOf, nameOf } from './member/decider.ts'
export {
  type CodeSender,
  claimIdentity,
  listIdentities,
  removeIdentity,
  SEALED_CODES,
  verifyIdentity,
} from './member/identity.ts'
export { newIdentityLink, redeemIdentityLink } from './member/identity-link.ts'
export {
  findInvitation,
  inviteMember,
  type Joined,
  join,
  listInvitations,
  type Mailer,
  revokeInvitation,
} from './member/invitation.ts'
export {
  ensureMember,
  ensureOwner,
  holdMember,
  listMembers,
  type MemberDeps,
  removeMember,
} from './member/member.ts'
export { type MemberLinkDeps, readLink, signLink } from './member/member-link.ts'
export { changeRole, readViews, type SavedView, updateOwnMember } from './member/member-settings.ts'
export { createOwnToken, listOwnTokens, revokeOwnToken } from './member/member-token.ts'
export { auditCursor, listAudit, presentAudit } from './read-audit.ts'
export { presentWorkspace, readWorkspace, updateWorkspace } from './settings.ts'
export { COMMAND_LINE, createAppToken, deleteAppTokens } from './token/app-token.ts'
export {
  type BearerTokenDeps,
  type IssueTokenDeps,
  issueToken,
  listTokens,
  revokeToken,
} from './token/bearer-token.ts'
export { mustSignIn, needsCompany } from './token/company-rule.ts'
export { FailedTokens } from './token/failed-tokens.ts'
export { holdParent, holdWithDescendants } from './token/family.ts'
export { TOKEN_CHECK_MS, watchTokens } from './token/held-tokens.ts'
export { revoking } from './token/revoke.ts'
export { createSessionToken, deleteSessionTokens, isLimited, pruneSessions } from './token/session-token.ts'
export {
  type Ending,
  type EndSubscriptions,
  hashToken,
  type LinkState,
  linkState,
  type NewToken,
  newToken,
  TOKEN_REVOKED,
} from './token/token.ts'
export {
  authenticate,
  authenticateSession,
  KnownViewers,
  SESSION_IDLE_MS,
  type Viewer,
  type ViewerDeps,
} from './token/viewer.ts'
export { DayCounter } from './usage/day-counter.ts'
export {
  BOUNCED,
  type DayCounts,
  type DayRange,
  DELIVERY_ACCEPTED,
  DELIVERY_FAILED,
  daysIn,
  FAILED,
  pruneDayCounts,
  REPORTED,
  readDayCounts,
  SENT,
} from './usage/day-counts.ts'
export {
  checkRoom,
  ensureAddressMayChange,
  ensureRoom,
  ensureRoomToSend,
  ensureRoomToStore,
  Plans,
} from './usage/plan.ts'
export {
  changeUsage,
  countAgents,
  countArrivals,
  countForDay,
  countMessages,
  createUsageCounter,
  readKeptUsage,
  subtractAgent,
  type Usage,
  uncountMessages,
  usageOf,
} from './usage/usage.ts'
export {
  createFirstWorkspace,
  createMemberToken,
  createWorkspace,
  findOnlyMember,
  resolveWorkspace,
} from './workspace.ts'
