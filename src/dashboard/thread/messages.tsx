import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { useLocation } from 'wouter'
import { FoldedMessage, Message } from '../message/message.tsx'
import type { ShownMessage } from '../message/message-fields.ts'
import { Button } from '../parts/button.tsx'
import { useKeys } from '../screen/keys.ts'
import { useAgents } from '../screen/viewer.tsx'
import { text } from './strings.ts'
import type { useOlder } from './use-older.ts'

/** More than this many messages are folded into one button, but for the last. */
const MOST_LINES = 12
const LAST_LINES = 5

/** Which messages are opened: the newest, those that are unread, and those that were pressed. */
const useOpened = (messages: readonly ShownMessage[]) => {
  const [pressed, setPressed] = useState<ReadonlySet<string>>(new Set())
  const [first] = useState(
    () =>
      new Set(
        messages
          .filter(
            (one, index) =>
              index === messages.length - 1 ||
              (one.direction === 'inbound' && one.status === 'received' && one.readAt === null),
          )
          .map(({ id }) => id),
      ),
  )
  const [known] = useState(() => new Set(messages.map(({ id }) => id)))
  return {
    // What arrives while one looks is opened as well.
    isOpened: (id: string) => pressed.has(id) || first.has(id) || !known.has(id),
    open: (id: string) => setPressed(new Set([...pressed, id])),
  }
}

/** Whether the page is being printed: then all messages are shown, whatever was folded. */
const usePrinting = (): boolean => {
  const [printing, setPrinting] = useState(false)
  useEffect(() => {
    // The browser takes the page as it is when the event ends.
    const begin = () => flushSync(() => setPrinting(true))
    const end = () => setPrinting(false)
    addEventListener('beforeprint', begin)
    addEventListener('afterprint', end)
    return () => {
      removeEventListener('beforeprint', begin)
      removeEventListener('afterprint', end)
    }
  }, [])
  return printing
}

/** Who wrote a message: outside, the agent, or a member in its name. */
const fromWords = (
  { direction, counterpartName, counterpart, sentBy }: ShownMessage,
  agent: string,
): string => {
  if (direction === 'inbound') return counterpartName ?? counterpart
  return sentBy?.kind === 'member' ? text.memberAs(sentBy.name, agent) : agent
}

interface MessagesProps {
  agentId: string
  /** The oldest first. */
  messages: readonly ShownMessage[]
  older: ReturnType<typeof useOlder>
}

/** The messages of a thread, of which the earlier ones are folded. */
export const Messages = ({ agentId, messages, older }: MessagesProps) => {
  const [, go] = useLocation()
  const [all, setAll] = useState(false)
  const printing = usePrinting()
  const agent = useAgents().find(({ id }) => id === agentId)
  const { isOpened, open } = useOpened(messages)
  const hidden = all || printing || messages.length <= MOST_LINES ? 0 : messages.length - LAST_LINES
  const fromOf = (message: ShownMessage) => fromWords(message, agent?.name ?? '')
  const forward = (id: string) => go(`/compose?agent=${agentId}&forward=${id}`)
  const newest = messages.at(-1)
  useKeys([{ keys: 'f', label: text.keys.forward, group: 'thread', run: () => newest && forward(newest.id) }])
  return (
    <ol className="messages">
      {hidden === 0 && older.more && (
        <li className="message">
          <Button kind="ghost" busy={older.busy} onClick={older.more}>
            {text.older}
          </Button>
        </li>
      )}
      {hidden > 0 && (
        <li className="message">
          <Button kind="ghost" onClick={() => setAll(true)}>
            {text.earlier(hidden)}
          </Button>
        </li>
      )}
      {messages.slice(hidden).map((message) => (
        <li key={message.id}>
          {printing || isOpened(message.id) ? (
            <Message message={message} from={fromOf(message)} onForward={() => forward(message.id)} />
          ) : (
            <FoldedMessage message={message} from={fromOf(message)} onOpen={() => open(message.id)} />
          )}
        </li>
      ))}
    </ol>
  )
}
