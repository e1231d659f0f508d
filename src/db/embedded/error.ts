/** The embedded PostgreSQL cannot run here. The message says what stands in its way and what helps. */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EmbeddedPostgresError'
  }
}
