export {
  type AccessByChannel,
  addSender,
  ensureMaySetAccess,
  readAccess,
  removeSender,
  setAccess,
} from './access/access.ts'
export {
  type AccessList,
  type AccessView,
  addEntry,
  entriesFor,
  entriesForSql,
  isDomain,
  normalizeEntry,
  pinSender,
} from './access/access-list.ts'
export { forgetMember } from './access/forget-member.ts'
export {
  type AgentReads,
  authorizeAgent,
  type Caller,
  createAgentReads,
  findAgent,
  findAgents,
  findAgentTogether,
  isDeleted,
} from './access/permission.ts'
export { ensureUnsupervised } from './access/supervision.ts'
export { createAgentToken, listAgentTokens, revokeAgentToken } from './access/token.ts'
export { givenAddressOf, listAddresses } from './address/address.ts'
export { changeAddress, removeAddress } from './address/change-address.ts'
export { leaveDomain } from './address/leave-domain.ts'
export {
  buyPhoneNumber,
  listPhoneNumbers,
  releasePhoneNumber,
  searchPhoneNumbers,
} from './address/number-pool.ts'
export { GIVEN_ADDRESS } from './address/own-address.ts'
export { type NumberOffer, PhoneNumbers } from './address/phone-numbers.ts'
export { reachableAgents } from './address/reachable.ts'
export { createBotStore, SEALED_BOT_TOKENS } from './address/telegram-bot.ts'
export {
  type Agent,
  countAgents,
  type DeletionDeps,
  deleteAgent,
  ICONS,
  listAgents,
  MAX_AGENTS,
  removeAgent,
  updateAgent,
} from './agent.ts'
export { askInChats, type ChatDeps, readReplyOf, SIGN_IN_FIRST } from './ask-in-chat.ts'
export { createCodeSender } from './code-sender.ts'
export { countPerDay } from './counts.ts'
export { type AgentDeps, createAgent } from './create.ts'
export { findDeleted, noteEmpty } from './deleted-agents.ts'
export { changeGuard, guardAgents } from './guard.ts'
export { awaitEvents } from './listening/await-events.ts'
export { type AwaitNewsDeps, findOrAwait, type Waiting } from './listening/await-news.ts'
export {
  type ConnectionDeps,
  connectClient,
  currentListeners,
  endLapsedLeases,
  findConnection,
  type Listener,
  listeningAt,
  listListeners,
  presentListeners,
  pruneConnections,
} from './listening/connection.ts'
export { type Listening, readListening } from './listening/listening.ts'
export {
  replaced,
  type Subscription,
  type SubscriptionOptions,
  Subscriptions,
} from './listening/subscriptions.ts'
export { beginWaiting, endWaiting } from './listening/waiter.ts'
export { findOptOuts, isOptedOut, noteKeyword } from './opt-out.ts'
export { type AddressSetUp, setUpAddress } from './setup/address.ts'
export { listDomains, type SetUpEmailDeps, setUpEmailAddress } from './setup/email.ts'
export { linkIdentity, proveIdentity } from './setup/link-identity.ts'
export { findSetup, type OpenSetupDeps, type Setup } from './setup/redeem-link.ts'
export { createSetupLink } from './setup/setup-link.ts'
export { mayRent, type SetUpSmsDeps, searchNumbersFor, setUpPhoneNumber } from './setup/sms.ts'
export {
  adoptManagedBot,
  findMadeBot,
  newBotLink,
  type SetUpTelegramDeps,
  setUpTelegramBot,
  type TelegramBotMade,
} from './setup/telegram.ts'
export {
  findSuppressed,
  listSuppressions,
  readSuppressions,
  removeSuppression,
  suppress,
  suppressAll,
  suppressionCursor,
} from './suppression.ts'
export { createAlbumStore, pruneAlbums } from './telegram-albums.ts'
export { readTexts, type Template, textsOf } from './texts.ts'
