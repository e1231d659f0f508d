export interface SmtpLimits {
  /** Bytes of one message. */
  size: number
  recipients: number
  /**
   * Sessions at a time, in all and of one source (an IPv4 address, an IPv6 /64). An idle one takes 15 KB
   * (measured with 900, without TLS). When all are taken, one that does nothing gives way to whoever comes.
   */
  connections: number
  connectionsPerAddress: number
  /** Sessions at a time of a source that was answered so many errors within ten minutes. */
  connectionsWhenErring: number
  errorsPerSource: number
  /**
   * Whether that holds for senders in the operator's own networks too: a mail server in front of us passes on
   * others' errors.
   */
  countOwnNetworks: boolean
  /** Errors that one session is answered before it is sent away (Postfix' `smtpd_hard_error_limit` is 20). */
  errors: number
  /** Commands in one session without a message, and recipients named in one, before it is sent away. */
  commands: number
  recipientCommands: number
  /**
   * Messages longer than `smallBytes` that may be in memory at once, of all senders and of one source, from
   * when they come in until they are stored, which takes several times their size.
   */
  largeMails: number
  largeMailsPerSource: number
  smallBytes: number
  /**
   * Bytes of all other messages that are in memory, coming in or waiting for their turn, and of those of one
   * source.
   */
  shortMailBytes: number
  shortMailBytesPerSource: number
  /** Milliseconds that a long message waits for its place before it is asked to come again. */
  waitMs: number
  /** A sender who is slower than this loses its place when another source needs it. */
  keepBytesPerSecond: number
  /** What every sender of a message has to keep up, seen over `paceWindowMs` and first over `paceGraceMs`. */
  minBytesPerSecond: number
  paceGraceMs: number
  paceWindowMs: number
  /** Milliseconds without a byte, and without progress within a transaction (RFC 5321 4.5.3.2: 5 minutes). */
  idleMs: number
  /**
   * Milliseconds to a first recipient, and from one message to the next: Postfix waits 10 s for a command
   * when it is under stress.
   */
  beforeMailMs: number
  /** Milliseconds for one whole message, and for one session. */
  dataMs: number
  lifetimeMs: number
  /** How often sessions are looked at, in milliseconds. */
  tickMs: number
  /** Unknown recipients in one session, after which a harvester is sent away. */
  unknown: number
  /**
   * Milliseconds before the answer to the second unknown recipient of a session, doubled with each further
   * one up to the most.
   */
  tarpitMs: number
  maxTarpitMs: number
}

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
  largeMails: 1,
  largeMailsPerSource: 1,
  smallBytes: 1024 * 1024,
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
  tarpitMs: 100,
  maxTarpitMs: 2_000,
}
