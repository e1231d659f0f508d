export interface SmtpLimits {
  /** Maximum size of a message in bytes. */
  size: number
  /** Maximum number of recipients of a message. */
  recipients: number
  /**
   * Maximum number of concurrent sessions, in total and per source (an IPv4 address, an IPv6 /56). An idle
   * session takes 15 KB (docs/decisions.md#idle-smtp-sessions). When the total is reached, a new session can evict
   * one that makes no progress.
   */
  connections: number
  connectionsPerAddress: number
  /**
   * Maximum number of concurrent sessions of a source that has caused `errorsPerSource` errors within ten
   * minutes.
   */
  connectionsWhenErring: number
  errorsPerSource: number
  /**
   * Whether the error limit also applies to the operator's own networks. A mail server in front of this one
   * passes on errors that others caused.
   */
  countOwnNetworks: boolean
  /** Maximum number of errors in one session (Postfix's `smtpd_hard_error_limit` is 20). */
  errors: number
  /** Maximum numbers of commands and of RCPT commands in one session without a message. */
  commands: number
  recipientCommands: number
  /**
   * Maximum number of messages longer than `smallBytes` in memory, in total and per source, and their bytes. They
   * count from when they have arrived until they are stored, which takes several times their size.
   */
  largeMails: number
  largeMailsPerSource: number
  largeMailBytes: number
  smallBytes: number
  /** Maximum bytes of such messages on disk while they arrive, in total and per source. */
  spoolBytes: number
  spoolBytesPerSource: number
  /** Maximum bytes of all other messages in memory, arriving or waiting, in total and per source. */
  shortMailBytes: number
  shortMailBytesPerSource: number
  /** Time in milliseconds that a long message waits for memory before the client gets a temporary error. */
  waitMs: number
  /** Rate below which a sender is cut off when another needs its memory or disk space. */
  keepBytesPerSecond: number
  /** Minimum rate of every sender, measured over `paceWindowMs` after an initial `paceGraceMs`. */
  minBytesPerSecond: number
  paceGraceMs: number
  paceWindowMs: number
  /**
   * Time in milliseconds without data, and without progress in a transaction (RFC 5321 4.5.3.2: 5 minutes).
   */
  idleMs: number
  /**
   * Time in milliseconds until the first recipient and between messages. Postfix allows 10 s per command
   * under stress.
   */
  beforeMailMs: number
  /** Maximum time in milliseconds for one message and for one session. */
  dataMs: number
  lifetimeMs: number
  /** Interval in milliseconds at which sessions are checked. */
  tickMs: number
  /** Maximum number of unknown recipients in one session, against address harvesting. */
  unknown: number
  /**
   * Maximum number of unknown recipients of one source in an hour. Then all its recipients are deferred, known or
   * not. Not for the operator's own networks, unless they are counted.
   */
  unknownPerSource: number
  /**
   * Delay in milliseconds before the response to the second unknown recipient of a session. It doubles with
   * each further one, up to `maxTarpitMs`.
   */
  tarpitMs: number
  maxTarpitMs: number
}

/** @limit SMTP */
export const SMTP_LIMITS: SmtpLimits = {
  size: 25 * 1024 * 1024,
  recipients: 100,
  connections: 1_000,
  connectionsPerAddress: 50,
  connectionsWhenErring: 5,
  errorsPerSource: 100,
  countOwnNetworks: false,
  errors: 30,
  commands: 100,
  recipientCommands: 1_000,
  largeMails: 8,
  largeMailsPerSource: 1,
  largeMailBytes: 32 * 1024 * 1024,
  smallBytes: 1024 * 1024,
  spoolBytes: 1024 * 1024 * 1024,
  spoolBytesPerSource: 128 * 1024 * 1024,
  shortMailBytes: 128 * 1024 * 1024,
  shortMailBytesPerSource: 32 * 1024 * 1024,
  waitMs: 60_000,
  keepBytesPerSecond: 256 * 1024,
  minBytesPerSecond: 1024,
  paceGraceMs: 60_000,
  paceWindowMs: 30_000,
  idleMs: 300_000,
  beforeMailMs: 60_000,
  dataMs: 600_000,
  lifetimeMs: 1_800_000,
  tickMs: 1_000,
  unknown: 20,
  unknownPerSource: 100,
  tarpitMs: 100,
  maxTarpitMs: 2_000,
}
