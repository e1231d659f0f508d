import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { readConfig } from '../../src/config/config.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type Front, startFront } from '../../src/front/index.ts'
import { afterFile } from './after-file.ts'
import { freePort } from './port.ts'
import {
  apiOf,
  createTestAgent,
  type ServiceOptions,
  startService,
  type TestAgent,
  type TestService,
} from './service.ts'

export const CELL_SECRET = 'a secret that fronts and installations share'.replaceAll(' ', '-')

/** A proxy between the front and an installation, which keeps what the front sends and can be cut. */
export interface Tap {
  readonly port: number
  /** All that was sent to the installation. */
  sent(): string
  /** Breaks every connection, and refuses new ones. */
  cut(): Promise<void>
  /** Accepts connections again. */
  mend(): Promise<void>
}

const startTap = async (target: { host: string; port: number }): Promise<Tap> => {
  const sockets = new Set<Socket>()
  const sent: Buffer[] = []
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    return socket
  }
  const begin = (client: Socket) => {
    const server = connect(target.port, target.host)
    keep(client).on('data', (bytes: Buffer) => sent.push(bytes))
    client.pipe(keep(server)).pipe(client)
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
  }
  const listen = (port: number) =>
    new Promise<Server>((resolve) => {
      const opened = createServer(begin).listen(port, '127.0.0.1', () => resolve(opened))
    })
  let server = await listen(0)
  const { port } = server.address() as AddressInfo
  const cut = async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  afterFile(cut)
  return {
    port,
    sent: () => Buffer.concat(sent).toString('latin1'),
    cut,
    mend: async () => {
      server = await listen(port)
    },
  }
}

/** An installation behind the front of a test. */
export interface TestCell extends TestService {
  readonly httpTap: Tap
  readonly smtpTap: Tap
}

/** Several installations with databases of their own, and a front before them; stopped after the file's last test. */
export interface TestCells {
  readonly cells: readonly [TestCell, TestCell]
  readonly front: Front
  /** Where the front is reached, in the form of a service. */
  readonly service: Pick<TestService, 'http' | 'smtp'>
}

export const startCells = async (
  options: ServiceOptions & {
    front?: Record<string, string>
    frontWorld?: Parameters<typeof startFront>[2]
  } = {},
): Promise<TestCells> => {
  const port = await freePort()
  const publicUrl = `http://localhost:${port}`
  const startCell = async (name: string): Promise<TestCell> => {
    const environment = {
      ...{ CELL_SECRET, TRUST_PROXY: '127.0.0.1', PUBLIC_URL: publicUrl, MAIL_DOMAIN: `${name}.example` },
      ...options.environment,
    }
    const service = await startService({ ...options, environment })
    const { hostname: host, port } = new URL(service.http)
    return {
      ...service,
      httpTap: await startTap({ host, port: Number(port) }),
      smtpTap: await startTap(service.smtp),
    }
  }
  const cells = [await startCell('one'), await startCell('two')] as const
  const urls = cells.map(
    ({ httpTap, smtpTap }) => `http://127.0.0.1:${httpTap.port} smtp://127.0.0.1:${smtpTap.port}`,
  )
  const config = readConfig({
    ...{ ROLES: 'front', PORT: String(port), SMTP_PORT: '0', CELLS: urls.join(', '), CELL_SECRET },
    ...{ PUBLIC_URL: publicUrl, TRUST_PROXY: '127.0.0.1', ...options.front },
  })
  const front = await startFront(config, options.log ?? silentLogger, options.frontWorld)
  afterFile(() => front.stop(1_000))
  const [host, smtpPort] = front.smtp.split(':') as [string, string]
  return { cells, front, service: { http: front.http, smtp: { host, port: Number(smtpPort) } } }
}

/** Creates an agent in each installation, through the front, that accepts mail from anyone. */
export const createAgentInEach = async ({ cells, service }: TestCells): Promise<[TestAgent, TestAgent]> => {
  const createAgent = async (cell: TestCell): Promise<TestAgent> => {
    const owner = await cell.workspace()
    const through = { ...owner, api: apiOf(service.http, owner.token) }
    const agent = await createTestAgent(service, through)
    await through.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
    return agent
  }
  return [await createAgent(cells[0]), await createAgent(cells[1])]
}
