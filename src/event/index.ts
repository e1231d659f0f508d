export { skipLostIds } from './after-restore.ts'
export {
  APPEND_EVENTS,
  APPENDED,
  APPENDED_COLUMNS,
  type AppendedRow,
  isLogged,
  LOGS_MORE,
  lockAllLogs,
  lockLogs,
  RAISED,
  SELECT_APPENDED,
  toAppended,
} from './append.ts'
export {
  dataOf,
  dataSchemaOf,
  EVENT_NAMES,
  EVENT_TYPES,
  type EventDetail,
  type EventSender,
  type EventType,
  eventIdOf,
  handoverBinding,
  type LoggedEvent,
  MESSAGE_FAILED,
  MESSAGE_HELD,
  MESSAGE_RECEIVED,
  MESSAGE_REFUSED,
  MESSAGE_REPORTED,
  MESSAGE_SENT,
  type PayloadEvent,
  presentEvent,
  QUESTION_ANSWERED,
} from './event.ts'
export { Feed, type News } from './feed.ts'
export { type FeedItem, type Follower, positionOf, type Sink, type Truncated } from './follower.ts'
export {
  createEventLogs,
  deleteEventsOf,
  eventCursor,
  type LogPosition,
  pruneEvents,
  readEventPages,
  readEvents,
  readGrown,
  readHead,
  readPlaceOf,
} from './log.ts'
export {
  eventTypes,
  HEARD_BY_DEFAULT,
  heardTypes,
  heardTypesInQuery,
  hearsMessages,
  loggedTypes,
} from './selection.ts'
export { Texts } from './texts.ts'
