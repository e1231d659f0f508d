import { connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openFoundation } from '../../src/boot/foundation.ts'
import { readConfig } from '../../src/config/config.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createTestDatabase } from '../support/database.ts'
import { temporaryDir } from '../support/postgres.ts'

/** Leads to a database, except for the connections that `isBroken` chooses by their number. */
const startProxy = async (url: string, isBroken: (n: number) => boolean): Promise<string> => {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    if (isBroken(++count)) return void socket.destroy()
    const inner = connect(Number(target.port), target.hostname)
    inner.on('error', () => socket.destroy())
    socket.pipe(inner).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const way = new URL(url)
  way.port = String((server.address() as { port: number }).port)
  return way.href
}

test('a start waits for a database that does not accept connections yet, and says so', async () => {
  const database = await createTestDatabase()
  // The first connection is the one that checks the setting, with a patience of its own.
  const url = await startProxy(database.url, (n) => n > 1 && n <= 4)
  const said: string[] = []
  const log = { ...silentLogger, warn: (_: unknown, text: string) => void said.push(text) }
  const config = readConfig({
    DATABASE_URL: url,
    DATA_DIR: temporaryDir(),
    MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  })
  const foundation = await openFoundation(config, log, { service: true, migrates: 'always' })
  await foundation.close()
  await database.drop()
  expect(said).toEqual([
    expect.stringMatching(/^waiting for the database to take its migrations, for up to 60 s more$/),
  ])
})
