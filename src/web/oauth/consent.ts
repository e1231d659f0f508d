import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AgentDeps, createAgent, listAgents } from '../../agent/index.ts'
import {
  type ConnectedAppDeps,
  checkForm,
  findPageViewer,
  type PageViewer,
  type SignInDeps,
} from '../../auth/index.ts'
import {
  type AuthorizationRequest,
  againPath,
  allowRequest,
  denyRequest,
  type Exchange,
  findRequest,
} from '../../auth/oauth/authorization.ts'
import { invalidInput } from '../../core/errors.ts'
import { agentName, uuid } from '../../core/rules.ts'
import { readWorkspace } from '../../workspace/index.ts'
import { requireSession } from '../app/visit.ts'
import { problemOf } from '../page/failure-words.ts'
import { type Page, readForm, reply, showPage } from '../page/page.ts'
import { checked } from '../page/rule.ts'
import {
  consentPage,
  EXPIRED,
  NEW_AGENT,
  OFFERED,
  returnPage,
  SCOPE_FIELD,
  type Wrong,
} from './consent-page.ts'

/** Path that leads to an authorization request that another installation has stored. */
const AGAIN = '/oauth/again/'

export type ConsentDeps = SignInDeps & ConnectedAppDeps & AgentDeps & { clientIdKey: Uint8Array | null }

const show = async (
  deps: ConsentDeps,
  { viewer, formToken }: PageViewer,
  waiting: AuthorizationRequest,
  wrong: Wrong | null,
): Promise<Page> => {
  const [agents, { workspace }] = await Promise.all([listAgents(deps, viewer), readWorkspace(deps, viewer)])
  const asked = {
    ...{ client: waiting.client, scopes: waiting.scopes, workspace: workspace.name },
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

/** Returns the chosen scopes; null if the page that was sent offered none, as that of an earlier release. Throws `invalid_input`. */
const scopesIn = (form: URLSearchParams): readonly string[] | null => {
  if (!form.has(OFFERED)) return null
  const chosen = form.getAll(SCOPE_FIELD)
  if (chosen.length === 0) throw invalidInput('scopes', 'choose at least one thing that it may do')
  return chosen
}

/** A request of a browser for the page about an authorization request, whose id is in the path. */
export interface Asking {
  request: IncomingMessage
  response: ServerResponse
  id: string
}

const decide = async (
  deps: ConsentDeps & Exchange,
  { request, response }: Asking,
  page: PageViewer,
  waiting: AuthorizationRequest,
): Promise<Page> => {
  const { place } = waiting.client
  const form = await readForm(request)
  if (!form) {
    // The rest of an unread body must not be parsed as the next request.
    response.setHeader('Connection', 'close')
    const problem = 'This form could not be read.'
    return show(deps, page, waiting, { status: 400, problem, form: new URLSearchParams() })
  }
  try {
    checkForm(deps, page, request, form)
    if (form.get('decision') !== 'allow')
      return returnPage(`${place} was not connected`, place, await denyRequest(waiting, page.viewer))
    const scopes = scopesIn(form)
    const agentId = await agentOf(deps, page, form)
    const next = await allowRequest(deps, waiting, page.viewer, { agentId, scopes })
    return returnPage(`${place} is connected`, place, next)
  } catch (error) {
    return show(deps, page, waiting, { ...problemOf(error), form })
  }
}

/**
 * Serves the page on which a signed-in member decides about an authorization request. A GET changes nothing,
 * and a form is accepted only from this page, in the browser that made the request.
 */
export const serveConsent = async (deps: ConsentDeps & Exchange, asking: Asking): Promise<void> => {
  const { request, response, id } = asking
  const page = await requireSession(deps, request, response)
  if (!page) return
  const waiting = await findRequest(deps, request, id)
  const mayBeElsewhere = deps.clientIdKey !== null && request.method === 'GET'
  if (!waiting) return reply(response, mayBeElsewhere ? { location: AGAIN + id } : EXPIRED)
  if (waiting.decided)
    return showPage(response, returnPage('You have decided', waiting.client.place, waiting.decided))
  if (request.method === 'POST') return showPage(response, await decide(deps, asking, page, waiting))
  showPage(response, await show(deps, page, waiting, null))
}

/**
 * Makes an authorization request again: behind a front, it is stored by any installation until it is known which one the member is in,
 * and the page there leads here.
 */
export const serveAgain = async (deps: Exchange, { request, response, id }: Asking): Promise<void> => {
  const waiting = await findRequest(deps, request, id)
  reply(response, waiting && !waiting.decided ? { location: againPath(waiting) } : EXPIRED)
}

/**
 * Returns whether an authorization request goes on in this browser: it is the one that began the request, and in
 * which a member decided about it, in the same session. Answers the request otherwise.
 */
export const mayGoOn = async (deps: ConsentDeps & Exchange, asking: Asking): Promise<boolean> => {
  const [waiting, page] = await Promise.all([
    findRequest(deps, asking.request, asking.id),
    findPageViewer(deps, asking.request),
  ])
  const allowed = waiting !== null && page !== null && waiting.decidedIn === page.viewer.tokenId
  if (!allowed) showPage(asking.response, EXPIRED)
  return allowed
}
