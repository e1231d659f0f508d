import type { IncomingMessage, ServerResponse } from 'node:http'
import { listAgents } from '../../agent/agent.ts'
import { type AgentDeps, createAgent } from '../../agent/create.ts'
import {
  type AuthorizationRequest,
  allowRequest,
  denyRequest,
  type Exchange,
  findRequest,
} from '../../auth/oauth/authorization.ts'
import type { ConnectedAppDeps } from '../../auth/oauth/connected-app.ts'
import { checkForm, type PageViewer } from '../../auth/page-viewer.ts'
import type { SignInDeps } from '../../auth/sign-in.ts'
import { agentName, uuid } from '../../core/rules.ts'
import { readWorkspace } from '../../workspace/settings.ts'
import { requireSession } from '../app/visit.ts'
import { problemOf } from '../failure-words.ts'
import { type Page, readForm, showPage } from '../page.ts'
import { checked } from '../rule.ts'
import { consentPage, EXPIRED, NEW_AGENT, returnPage, type Wrong } from './consent-page.ts'

export type ConsentDeps = SignInDeps & ConnectedAppDeps & AgentDeps

const hostOf = (redirectUri: string): string => {
  const { host, protocol } = new URL(redirectUri)
  return host || `${protocol}//`
}

const show = async (
  deps: ConsentDeps,
  { viewer, formToken }: PageViewer,
  waiting: AuthorizationRequest,
  wrong: Wrong | null,
): Promise<Page> => {
  const [agents, workspace] = await Promise.all([listAgents(deps, viewer), readWorkspace(deps, viewer)])
  const asked = {
    ...{
      client: waiting.client,
      returnsTo: hostOf(waiting.redirectUri),
      workspace: workspace.workspace.name,
    },
    ...{ email: viewer.email ?? '', agents: agents.items, formToken },
  }
  return consentPage(asked, wrong)
}

/** Returns the id of the agent that the member chose or named; creates a new one. */
const agentOf = async (deps: ConsentDeps, { viewer }: PageViewer, form: URLSearchParams): Promise<string> => {
  const chosen = form.get('agent') ?? ''
  if (chosen !== NEW_AGENT) return checked(uuid, 'agent', chosen)
  const name = checked(agentName, 'name', form.get('name')?.trim() ?? '')
  return (await createAgent(deps, viewer, { name, icon: 'bot' })).id
}

const decide = async (
  deps: ConsentDeps,
  exchange: Exchange,
  page: PageViewer,
  waiting: AuthorizationRequest,
): Promise<Page> => {
  const { client, redirectUri } = waiting
  const form = await readForm(exchange.request)
  if (!form) {
    // The rest of an unread body must not be parsed as the next request.
    exchange.response.setHeader('Connection', 'close')
    const problem = 'This form could not be read.'
    return show(deps, page, waiting, { status: 400, problem, form: new URLSearchParams() })
  }
  try {
    checkForm(deps, page, exchange.request, form)
    if (form.get('decision') !== 'allow')
      return returnPage(`${client.name} was not connected`, hostOf(redirectUri), await denyRequest(exchange))
    const agentId = await agentOf(deps, page, form)
    const next = await allowRequest(deps, exchange, page.viewer, { ...waiting, agentId })
    return returnPage(`${client.name} is connected`, hostOf(redirectUri), next)
  } catch (error) {
    return show(deps, page, waiting, { ...problemOf(error), form })
  }
}

/**
 * Serves the page on which a signed-in member decides about an authorization request. A GET changes nothing,
 * and a form is accepted only from this page, in the browser that made the request.
 */
export const serveConsent = async (deps: ConsentDeps, exchange: Exchange): Promise<void> => {
  const { request, response }: { request: IncomingMessage; response: ServerResponse } = exchange
  const page = await requireSession(deps, request, response)
  if (!page) return
  const waiting = await findRequest(exchange)
  if (!waiting) return showPage(response, EXPIRED)
  if (waiting.decided)
    return showPage(response, returnPage('You have decided', hostOf(waiting.redirectUri), waiting.decided))
  if (request.method === 'POST') return showPage(response, await decide(deps, exchange, page, waiting))
  showPage(response, await show(deps, page, waiting, null))
}
