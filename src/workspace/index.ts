export { COMMAND_LINE, createAppToken, deleteAppTokens } from './app-token.ts'
export { type Action, type Actor, audit, auditSends, OPERATOR } from './audit.ts'
export {
  type BearerTokenDeps,
  type IssueTokenDeps,
  issueToken,
  listTokens,
  type NewToken,
  revokeToken,
} from './bearer-token.ts'
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
} from './change-log.ts'
export { finishDataKeys, NIL, type Resealed, replaceDataKey, type SealedColumn } from './data-keys.ts'
export { DayCounter } from './day-counter.ts'
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
} from './day-counts.ts'
export {
  cancelDeletion,
  condemn,
  deleteRecords,
  deleteRow,
  endTokens,
  findCondemned,
  scheduleDeletion,
} from './deletion.ts'
export { callExternally, type ExternalCallDeps, ExternalCalls } from './external-calls.ts'
export { FailedTokens } from './failed-tokens.ts'
export { TOKEN_CHECK_MS, watchTokens } from './held-tokens.ts'
export { once, pruneIdempotencyKeys, readAttempt } from './idempotency.ts'
export { type Attempt, KeyReused, SEALED_ANSWERS } from './idempotency-record.ts'
export {
  type CodeSender,
  claimIdentity,
  listIdentities,
  removeIdentity,
  SEALED_CODES,
  verifyIdentity,
} from './identity.ts'
export { newIdentityLink, redeemIdentityLink } from './identity-link.ts'
export {
  findInvitation,
  inviteMember,
  type Joined,
  join,
  listInvitations,
  type Mailer,
  revokeInvitation,
} from './invitation.ts'
export {
  createKeyring,
  decrypt,
  deriveKey,
  encrypt,
  type Keyring,
  type OtherKeys,
  readKeyTest,
  rewrapDataKeys,
} from './keyring.ts'
export {
  ensureMember,
  ensureOwner,
  holdMember,
  listMembers,
  type MemberDeps,
  removeMember,
} from './member.ts'
export { changeRole, readViews, type SavedView, updateOwnMember } from './member-settings.ts'
export { createOwnToken, listOwnTokens, revokeOwnToken } from './member-token.ts'
export {
  checkRoom,
  ensureAddressMayChange,
  ensureRoom,
  ensureRoomToSend,
  ensureRoomToStore,
  Plans,
} from './plan.ts'
export { ensureWritable, overQuota, pruneRates, RateLimits } from './rate-limits.ts'
export { auditCursor, listAudit, presentAudit } from './read-audit.ts'
export { createSessionToken, deleteSessionTokens, isLimited, pruneSessions } from './session-token.ts'
export { presentWorkspace, readWorkspace, type SettingsDeps, updateWorkspace } from './settings.ts'
export { type StreamLimits, StreamPlaces } from './stream-places.ts'
export {
  type Ending,
  type EndSubscriptions,
  hashToken,
  type LinkState,
  linkState,
  newToken,
  TOKEN_REVOKED,
} from './token.ts'
export { costOfBody, countRequest, createTokenRequests, type QuotaDeps } from './token-requests.ts'
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
} from './usage.ts'
export {
  authenticate,
  authenticateSession,
  bearerOf,
  KnownViewers,
  SESSION_IDLE_MS,
  type Viewer,
  type ViewerDeps,
} from './viewer.ts'
export {
  createFirstWorkspace,
  createMemberToken,
  createWorkspace,
  findOnlyMember,
  resolveWorkspace,
} from './workspace.ts'
