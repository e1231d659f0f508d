import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSchema, createYoga } from 'graphql-yoga'

/** The counterpart of subscriptions, in its own process: a default Yoga, whose one subscription waits forever. */

const TYPES = `scalar UUID
  type Query { ok: Boolean }
  type Subscription { messageReceived(agentId: UUID!): Event! }
  type Event { id: Int! type: String! channel: String! messageId: UUID! createdAt: String! sender: Sender }
  type Sender { kind: String! name: String email: String }`

async function* subscribe() {
  await new Promise(() => undefined)
  yield {}
}

const schema = createSchema({
  typeDefs: TYPES,
  resolvers: { Subscription: { messageReceived: { subscribe } } },
})
const server = createServer(createYoga({ schema, logging: false }))
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
