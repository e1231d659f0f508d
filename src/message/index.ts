export { deleteMessagesOf } from './agent-messages.ts'
export { type ApprovalDeps, approveMessage, rejectExpired, rejectMessage } from './approval/approval.ts'
export {
  type ApprovalRequest,
  type ApprovalRequestDeps,
  openApprovalRequest,
} from './approval/approval-request.ts'
export { htmlTextOf, imagesOf } from './approval/content.ts'
export { awaitsApproval, holdOf } from './approval/hold.ts'
export { holdDue } from './approval/hold-restored.ts'
export { decideInChat } from './approval/reply.ts'
export { strangersOf } from './approval/strangers.ts'
export { CODES_STORED } from './code/queue.ts'
export { takeCode } from './code/take.ts'
export { deleteMessage, deleteMessages } from './delete.ts'
export { createFileIndexer } from './files/file-index.ts'
export { FileTexts, readableText, readWholeText, textPageOf } from './files/file-texts.ts'
export { type Highlight, readHighlights, withHighlights } from './highlights/highlights.ts'
export type { ImportDeps, ImportSummary } from './import/import.ts'
export { MAX_MAIL_BYTES, type MailEntry, tooLarge } from './import/mail.ts'
export { importAsOperator, importMessages } from './import/mailbox.ts'
export { NotAnMbox, splitMbox } from './import/mbox.ts'
export { type ImportPosition, positionOf } from './import/position.ts'
export { moveContents } from './move-contents.ts'
export {
  countHeld,
  countRefused,
  countUnheard,
  HOURS,
  MAX_COUNTED,
  MAX_EVENTS,
  MAX_IN_HOUR,
  REFUSED_DAYS,
  readActivity,
} from './reading/agent-states.ts'
export { linkAttachment, openLink } from './reading/attachment-link.ts'
export type { MessageFilter } from './reading/filter.ts'
export { messageCursor } from './reading/find.ts'
export type { MessageListKey } from './reading/for-each.ts'
export {
  createMessageLists,
  listFields,
  listMessages,
  listWorkspaceMessages,
  type MessageLists,
  type MessagePage,
  readMessagePages,
} from './reading/list.ts'
export { listThreads } from './reading/list-threads.ts'
export {
  type DomainHealth,
  MAX_DOMAINS,
  MAX_MAILS,
  MAX_OF_AGENT,
  readMailHealth,
} from './reading/mail-health.ts'
export { linkHtml, linkRaw, openHtmlLink, openRawLink, signHtmlLink } from './reading/mail-link.ts'
export { type MarkDeps, markMessage, markMessages } from './reading/marks.ts'
export { textBytesOf } from './reading/page.ts'
export { type PresentedMessage, replyTextOf, threadOf } from './reading/present.ts'
export { readPreviews } from './reading/preview.ts'
export {
  createMessageReads,
  type MessageReads,
  readAttachment,
  readMessage,
  readRaw,
} from './reading/read.ts'
export { listRecipients } from './reading/recipients.ts'
export { createIndexer } from './reading/search-index.ts'
export {
  createThreadReads,
  type InThread,
  readInThread,
  type Sibling,
  type ThreadReads,
} from './reading/siblings.ts'
export { invalidLink, LINK_PATH, type Signed, signLink } from './reading/signed-link.ts'
export {
  countUnread,
  findOwnThread,
  findThreads,
  MAX_UNREAD,
  readThreads,
  type Thread,
  type ThreadRef,
} from './reading/thread.ts'
export { readThreadPlaces, type ThreadListKey } from './reading/thread-places.ts'
export {
  createViews,
  type MailView,
  type Readable,
  readHiddenText,
  type ViewOptions,
  viewMessage,
  viewReadable,
} from './reading/view.ts'
export {
  type AddressLookup,
  type CatchAllLookup,
  createAddressLookup,
  createCatchAllLookup,
  createLocalMailboxLookup,
  type LocalMailboxLookup,
} from './receiving/address-lookup.ts'
export { applyBounce } from './receiving/bounce.ts'
export { DelayedEvents, wakeNow } from './receiving/delayed-events.ts'
export { mayInstruct } from './receiving/instructor.ts'
export { acceptForPostmaster, createPostmaster } from './receiving/postmaster.ts'
export { type ReceiveDeps, receive } from './receiving/receive.ts'
export { pruneRefused } from './receiving/refused.ts'
export { releaseMessage, releaseMessages } from './receiving/release.ts'
export { createArrivalStore } from './receiving/store.ts'
export { createTargetLookup } from './receiving/target.ts'
export { createLimitedStore } from './receiving/wake-limits.ts'
export { pruneMessages, RawRetention } from './retention.ts'
export { takeReport } from './sending/delivery.ts'
export { Outbox } from './sending/outbox.ts'
export { type OverdueDeps, requestOverdueReports } from './sending/overdue.ts'
export {
  createDraft,
  deleteDraft,
  draftCursor,
  draftOf,
  listDrafts,
  readDraft,
  readDrafts,
  type SavedDraft,
  sendDraft,
  updateDraft,
} from './sending/saved-draft.ts'
export { cancelMessage, rescheduleMessage } from './sending/schedule.ts'
export { segmentsOf } from './sending/segments.ts'
export { sendMessage } from './sending/send.ts'
export type { SendInput } from './sending/send-intent.ts'
export { createOutgoingStore, type OutgoingStore } from './sending/store-outgoing.ts'
export { unsubscribe } from './sending/unsubscribe.ts'
export { sendToUrl } from './sending/url.ts'
export { sentByOf } from './stored/author.ts'
export { MESSAGE_CHANGED, type MessageState, readStates } from './stored/changed.ts'
export {
  type AttachmentView,
  isReadableField,
  type MessageWithFiles,
  type ReadableField,
  SELECT_MESSAGE,
} from './stored/row.ts'
export { oldestDueSend, pruneSendJobs } from './stored/send-job.ts'
export { addNote, deleteNote, listNotes, MAX_NOTES, readNotes, type ThreadNote } from './thread/notes.ts'
export { endSnoozes } from './thread/snooze.ts'
export { type ThreadChanges, type ThreadKey, updateThreads } from './thread/state.ts'
export { readTranscript } from './thread/transcript.ts'
export { readWriters, type ThreadWriter } from './thread/writers.ts'
