/**
 * The service's logging interface, in pino's form: fields first, then the message. Never put a token, a
 * secret, a message's text or an address's credentials into the fields: people who read the log may not be
 * allowed to see them.
 */
export interface Logger {
  debug(fields: object, text: string): void
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
  child(fields: object): Logger
}

const quiet = () => undefined
export const silentLogger: Logger = {
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: quiet,
  child: () => silentLogger,
}
