export { Agent, type AgentOptions, type EventsOptions } from './agent.ts'
export type { components, operations, paths } from './api.ts'
export type { Attachment } from './attachment.ts'
export type { CallOptions } from './call.ts'
export type { CodeOptions, TakenCode } from './code.ts'
export { AmsError, type ErrorCode } from './errors.ts'
export type { ClientOptions } from './http.ts'
export type { ImportOptions, MailContent } from './import.ts'
export type { From, InboxOptions, NextOptions, Received } from './inbox.ts'
export { List, type Page } from './list.ts'
export type { ListOptions, Message, Send, SendOptions } from './message.ts'
export { memoryStore, type PositionStore } from './position.ts'
export type { AskOptions, Question } from './question.ts'
export type { Event, EventType, StreamItem } from './stream.ts'
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookPayload,
  type WebhookRequest,
} from './verify-webhook.ts'
export { Workspace } from './workspace.ts'
