import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Config } from '../config/config.ts'
import { listening } from '../config/unusable.ts'
import { lockDataDir } from '../db/embedded.ts'

const listenOnce = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host, port }, () => server.close(() => resolve()))
  })

const tryPorts = async ({ host, port, smtp, roles }: Config): Promise<void> => {
  await listening(['HOST', host], ['PORT', port], listenOnce(host, port))
  if (roles.has('smtp'))
    await listening(['SMTP_HOST', smtp.host], ['SMTP_PORT', smtp.port], listenOnce(smtp.host, smtp.port))
}

/**
 * Throws a `ConfigError` when a port of the service cannot be listened on, before the start creates anything. If
 * the port is another service's on the same DATA_DIR, that is the error.
 */
export const checkPorts = async (config: Config): Promise<void> => {
  try {
    await tryPorts(config)
  } catch (error) {
    if (!config.databaseUrl && existsSync(config.dataDir)) (await lockDataDir(config.dataDir))()
    throw error
  }
}
