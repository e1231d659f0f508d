export {
  type AccessByChannel,
  addSender,
  ensureMaySetAccess,
  readAccess,
  removeSender,
  setAccess,
} from './access.ts'
export {
  type AccessList,
  type AccessView,
  addEntry,
  entriesFor,
  entriesForSql,
  isDomain,
  normalizeEntry,
  pinSender,
} from './access-list.ts'
export { givenAddressOf, listAddresses } from './address.ts'
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
export { awaitEvents } from './await-events.ts'
export { changeAddress, removeAddress } from './change-address.ts'
export { createCodeSender } from './code-sender.ts'
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
} from './connection.ts'
export { countPerDay } from './counts.ts'
export { type AgentDeps, createAgent } from './create.ts'
export { findDeleted, noteEmpty } from './deleted-agents.ts'
export { forgetMember } from './forget-member.ts'
export { leaveDomain } from './leave-domain.ts'
export { type Listening, readListening } from './listening.ts'
export { buyPhoneNumber, listPhoneNumbers, releasePhoneNumber, searchPhoneNumbers } from './number-pool.ts'
export { findOptOuts, isOptedOut, noteKeyword } from './opt-out.ts'
export { GIVEN_ADDRESS } from './own-address.ts'
export { authorizeAgent, type Caller, findAgent, findAgents, isDeleted } from './permission.ts'
export { type NumberOffer, PhoneNumbers } from './phone-numbers.ts'
export { reachableAgents } from './reachable.ts'
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
export { replaced, type Subscription, type SubscriptionOptions, Subscriptions } from './subscriptions.ts'
export { ensureUnsupervised } from './supervision.ts'
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
export { createBotStore, SEALED_BOT_TOKENS } from './telegram-bot.ts'
export { readTexts, type Template, textsOf } from './texts.ts'
export { createAgentToken, listAgentTokens, revokeAgentToken } from './token.ts'
export { beginWaiting, endWaiting } from './waiter.ts'
