import { TwilioStandIn } from '../../src/demo/sms/stand-in.ts'
import { afterFile } from './after-file.ts'
import type { TestAgent, TestService } from './service.ts'

/** Starts a stand-in for Twilio, stopped after the file's last test. */
export const openTwilio = async (options?: { reports?: boolean }): Promise<TwilioStandIn> => {
  const twilio = await TwilioStandIn.open(options)
  afterFile(() => twilio.stop())
  return twilio
}

/** Returns the URL to which Twilio delivers incoming texts. */
const smsUrlOf = ({ http }: Pick<TestService, 'http'>): string =>
  `${http.replace('127.0.0.1', 'localhost')}/channels/sms/messages`

/** Gives an agent a phone number, as the set-up does. */
export const giveNumber = async (
  service: TestService,
  twilio: TwilioStandIn,
  agent: TestAgent,
  value: string,
): Promise<string> => {
  const sid = `PN${value.slice(1).padStart(32, '0')}`
  twilio.numbers.set(value, { sid, smsUrl: smsUrlOf(service) })
  const { prisma } = service.db
  const { workspaceId } = await prisma.agent.findUniqueOrThrow({ where: { id: agent.id } })
  const address = await prisma.address.create({
    data: { workspaceId, agentId: agent.id, channel: 'sms', value, primary: true },
  })
  await prisma.phoneNumber.create({ data: { workspaceId, value, providerId: sid, addressId: address.id } })
  return value
}
