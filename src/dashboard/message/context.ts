import { createContext, useContext } from 'react'
import type { ShownMessage } from './message-fields.ts'

/** Somebody with whom messages are exchanged: an address on a channel. */
export interface Person {
  agentId: string
  channel: ShownMessage['channel']
  address: string
  name: string | null
}

interface ThreadContext {
  /** The domain of mail that is stored and not sent; null if mail is sent. Mail within it is delivered. */
  capturedExcept: string | null
  showPerson?(person: Person): void
  /** Called after a message was deleted. */
  onDeleted?(): void
}

const Context = createContext<ThreadContext>({ capturedExcept: null })

export const ThreadProvider = Context.Provider
export const useThreadContext = (): ThreadContext => useContext(Context)

/** The other side of a message; null if there are several recipients to choose from, or none. */
export const personOf = (message: ShownMessage): Person | null => {
  const { agent, channel, counterpart, counterpartName, direction, to } = message
  const person = { agentId: agent.id, channel, name: counterpartName ?? null }
  if (direction === 'inbound') return { ...person, address: counterpart }
  return to.length === 1 ? { ...person, address: to[0]! } : null
}
