import { words } from '../parts/words.ts'

/** The words of the first page: the agents, and what they need. */
export const text = words('home', {
  title: 'Home',
  needsYou: 'Needs you',
  nothing: 'Nothing needs you now. What does will appear here.',
  fleet: 'Agents',
  list: 'All agents, those first that need a person',
  columns: { agent: 'Agent', state: 'Listening', needs: 'Needs', unread: 'Unread', day: 'Last 24 hours' },
  listening: 'Listening',
  notListening: 'Not listening',
  since: 'since',
  needs: {
    failing: (count: number) => (count === 1 ? 'A webhook is failing' : `${count} webhooks are failing`),
    deaf: (count: string) =>
      count === '1'
        ? 'One message that no program has received'
        : `${count} messages that no program has received`,
    held: (count: number) => (count === 1 ? 'One message to approve' : `${count} messages to approve`),
    silent: 'No program listens any more',
    unconnected: 'No program is connected yet',
    refused: (count: number) => (count === 1 ? 'One refused message' : `${count} refused messages`),
    unread: (count: string) => `${count} unread`,
  },
  all: {
    held: (count: number) =>
      count === 1 ? 'One message waits for your approval.' : `${count} messages wait for your approval.`,
    asked: (count: number) =>
      count === 1 ? 'An agent asks you a question.' : `Agents ask you ${count} questions.`,
    failing: (count: number) => (count === 1 ? 'One webhook is failing.' : `${count} webhooks are failing.`),
    deaf: (agents: number, messages: string) =>
      `${agents === 1 ? 'An agent does' : `${agents} agents do`} not listen and ${agents === 1 ? 'has' : 'have'} missed ${messages === '1' ? 'one message' : `${messages} messages`}.`,
    refused: (count: number) =>
      count === 1 ? 'One message was refused this week.' : `${count} messages were refused this week.`,
  },
  activity: (total: string, most: string, hour: string) =>
    total === '0'
      ? 'No message in 24 hours'
      : `${total} ${total === '1' ? 'message' : 'messages'} in 24 hours, most (${most}) in the hour from ${hour}`,
})
