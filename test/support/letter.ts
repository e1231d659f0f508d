import { type Delivery, deliver, type Letter } from './mail.ts'
import type { SharedService, TestAgent, TestService } from './service.ts'

/** Delivers a mail to the service over SMTP. */
export const post = ({ smtp }: Pick<TestService, 'smtp'>, letter: Letter): Promise<Delivery> =>
  deliver(`${smtp.host}:${smtp.port}`, letter)

/** Returns the agent's newest messages, as its API token sees them. */
export const newest = async (agent: TestAgent, limit = 1) =>
  (await agent.api('GET', `/agents/${agent.id}/messages?limit=${limit}`)).body.items

/**
 * Delivers a mail and returns it as the agent sees it, which is possible as soon as the server has responded
 * with 250.
 */
export const receive = async (service: SharedService, agent: TestAgent, letter: Letter) => {
  await post(service, letter)
  return (await newest(agent))[0]
}
