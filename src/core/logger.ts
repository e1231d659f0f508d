/**
 * What the service logs through (pino's shape). Fields first, then the sentence. Never put a token, a secret,
 * a message's text or an address's credentials into the fields: the log is read by people who may see none of
 * them.
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
