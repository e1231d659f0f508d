import { type Client, type Message, untilSent } from './client.ts'
import type { TwilioStandIn } from './sms/stand-in.ts'

/** What the SMS part of the demo needs. */
export interface SmsStage {
  twilio: TwilioStandIn
  owner: Client
  agent: Client
  agentId: string
  say(line: string): void
}

const ANN = '+15551234567'

const send = async (url: string, form: Record<string, string>): Promise<string> =>
  (await fetch(url, { method: 'POST', body: new URLSearchParams(form) })).text()

/** Searches for numbers on the setup page, and rents the first one. */
const rent = async (url: string): Promise<{ number: string; label: string }> => {
  const [, number, label] =
    /<option value="(\+\d+)">([^<]+)</.exec(await send(url, { country: 'US', areaCode: '500' })) ?? []
  if (!number || !label) throw new Error('the page of the set-up link offers no phone numbers')
  if (!(await send(url, { number, own: ANN })).includes('The number is set up'))
    throw new Error('the number was not set up')
  return { number, label }
}

/** The same agent over SMS: a number is rented for it, Ann texts it, and it replies. */
export const tourSms = async ({ twilio, owner, agent, agentId, say }: SmsStage): Promise<void> => {
  const { url } = await owner.call<{ url: string }>('POST', `/agents/${agentId}/addresses/setups`, {
    channel: 'sms',
  })
  const { number, label } = await rent(url)
  say(`SMS, with a local stand-in for Twilio's API: Ann opens a set-up link and rents ${label}.`)
  const { status } = await twilio.text(ANN, number, 'When will it be here? 🚚')
  const { items } = await agent.call<{ items: Message[] }>('GET', `/agents/${agentId}/messages?channel=sms`)
  const [question] = items
  if (status !== 200 || !question) throw new Error('the text did not arrive')
  say(
    `She texts it "${question.text}" (admission: ${question.admission}; Twilio's signature proves the number), and the agent replies.`,
  )
  const answer = await agent.call<Message>('POST', `/agents/${agentId}/messages`, {
    replyTo: question.id,
    text: 'Before noon.',
  })
  const sent = await untilSent(agent, `/agents/${agentId}/messages/${answer.id}`)
  const shown = twilio.sent.at(-1)
  if (shown?.to !== ANN || shown.from !== number) throw new Error('the reply over SMS went to another number')
  say(`She receives "${shown.body}". Twilio reports it as ${sent.status}, in ${sent.segments} segment.`)
}
