import type { OpenAPIHono } from '@hono/zod-openapi'
import {
  allowSender,
  blockSender,
  disallowSender,
  readAccess,
  setAccess,
  unblockSender,
} from '../api/agent/access.ts'
import { changeAddress, listAddresses, removeAddress, setUpAddress } from '../api/agent/address.ts'
import { createAgent, deleteAgent, listAgents, readAgent, updateAgent } from '../api/agent/agent.ts'
import { deleteSecret, listSecrets, revealSecrets, setSecret } from '../api/agent/secret.ts'
import { listSuppressions, removeSuppression } from '../api/agent/suppression.ts'
import { takeCode } from '../api/message/code.ts'
import {
  createDraft,
  deleteDraft,
  listDrafts,
  readDraft,
  sendDraft,
  updateDraft,
} from '../api/message/draft.ts'
import { approveMessage, cancelMessage, rejectMessage } from '../api/message/held-message.ts'
import { listMessages, listWorkspaceMessages, readMessage } from '../api/message/message.ts'
import { deleteMessage, deleteMessages } from '../api/message/message-deletion.ts'
import { markMessages, updateMessage } from '../api/message/message-marks.ts'
import { releaseMessage, releaseMessages } from '../api/message/message-release.ts'
import { sendMessage } from '../api/message/send.ts'
import { listThreads, readThread, readTranscript } from '../api/message/thread.ts'
import { addThreadNote, deleteThreadNote, listThreadNotes } from '../api/message/thread-note.ts'
import { updateThread, updateThreads } from '../api/message/thread-state.ts'
import { unsubscribe } from '../api/message/unsubscribe.ts'
import type { Operation } from '../api/operation.ts'
import {
  answerQuestion,
  askQuestion,
  listQuestions,
  readQuestion,
  withdrawQuestion,
} from '../api/question/question.ts'
import type { Fields } from '../api/resource.ts'
import { sendToMessageUrl, sendToUrl } from '../api/webhook/event.ts'
import { listAudit } from '../api/workspace/audit.ts'
import { disconnectApp, listConnectedApps } from '../api/workspace/connected-app.ts'
import { countAgentPerDay, countPerDay } from '../api/workspace/counts.ts'
import {
  addDomain,
  listDomains,
  readDomain,
  removeDomain,
  updateDomain,
  verifyDomain,
} from '../api/workspace/domain.ts'
import {
  claimIdentity,
  linkTelegram,
  listIdentities,
  removeIdentity,
  verifyIdentity,
} from '../api/workspace/identity.ts'
import { inviteMember, listInvitations, revokeInvitation } from '../api/workspace/invitation.ts'
import { changeRole, listMembers, removeMember, updateOwnMember } from '../api/workspace/member.ts'
import { createOwnToken, listOwnTokens, revokeOwnToken } from '../api/workspace/own-token.ts'
import {
  buyPhoneNumber,
  listPhoneNumbers,
  releasePhoneNumber,
  searchPhoneNumbers,
} from '../api/workspace/phone-number.ts'
import { createToken, listTokens, revokeToken } from '../api/workspace/token.ts'
import { readViewer } from '../api/workspace/viewer.ts'
import {
  deleteWorkspace,
  readWorkspace,
  restoreWorkspace,
  updateWorkspace,
} from '../api/workspace/workspace.ts'
import { connectionRoutes } from './resources/connections.ts'
import { exportRoutes } from './resources/exports.ts'
import { importRoutes } from './resources/imports.ts'
import { mailViewRoutes } from './resources/mail-views.ts'
import { messagePartRoutes } from './resources/message-parts.ts'
import { webhookRoutes } from './resources/webhooks.ts'
import type { RestEnv } from './route/env.ts'
import { route } from './route/rendered.ts'

type Routes = (app: OpenAPIHono<RestEnv>) => void

/** The routes of operations that REST serves as `api/` describes them. */
const routesOf =
  (...operations: readonly Pick<Operation<Fields, never>, 'name' | 'rest'>[]): Routes =>
  (app) => {
    for (const operation of operations) route(app, operation as Operation<Fields, never>)
  }

/**
 * All routes, in the order of the document. Hono takes the first that matches, so `/members/me` comes before the routes of one
 * member.
 */
export const ROUTES: readonly Routes[] = [
  routesOf(readWorkspace, updateWorkspace, deleteWorkspace, restoreWorkspace),
  exportRoutes,
  routesOf(listAudit),
  routesOf(countPerDay, countAgentPerDay),
  routesOf(
    listMembers,
    inviteMember,
    listInvitations,
    revokeInvitation,
    updateOwnMember,
    changeRole,
    removeMember,
    createOwnToken,
    listOwnTokens,
    revokeOwnToken,
  ),
  routesOf(listIdentities, claimIdentity, linkTelegram, verifyIdentity, removeIdentity),
  routesOf(listPhoneNumbers, searchPhoneNumbers, buyPhoneNumber, releasePhoneNumber),
  routesOf(listDomains, addDomain, readDomain, verifyDomain, updateDomain, removeDomain),
  routesOf(createAgent, listAgents, readAgent, updateAgent, deleteAgent),
  routesOf(listAddresses, changeAddress, removeAddress, setUpAddress),
  routesOf(readAccess, setAccess, allowSender, disallowSender, blockSender, unblockSender),
  routesOf(readViewer, createToken, listTokens, revokeToken),
  routesOf(listConnectedApps, disconnectApp),
  connectionRoutes,
  routesOf(
    sendMessage,
    listMessages,
    listWorkspaceMessages,
    readMessage,
    updateMessage,
    markMessages,
    approveMessage,
    rejectMessage,
    cancelMessage,
    unsubscribe,
    releaseMessage,
    releaseMessages,
    deleteMessage,
    deleteMessages,
    takeCode,
  ),
  messagePartRoutes,
  mailViewRoutes,
  routesOf(
    listThreads,
    readThread,
    readTranscript,
    updateThread,
    updateThreads,
    addThreadNote,
    listThreadNotes,
    deleteThreadNote,
  ),
  routesOf(createDraft, listDrafts, readDraft, updateDraft, deleteDraft, sendDraft),
  importRoutes,
  routesOf(askQuestion, listQuestions, readQuestion, answerQuestion, withdrawQuestion),
  routesOf(listSuppressions, removeSuppression),
  routesOf(listSecrets, revealSecrets, setSecret, deleteSecret),
  routesOf(sendToUrl, sendToMessageUrl),
  webhookRoutes,
]
