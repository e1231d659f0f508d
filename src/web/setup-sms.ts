import {
  mayRent,
  type NumberOffer,
  type SetUpSmsDeps,
  type Setup,
  searchNumbersFor,
  setUpPhoneNumber,
} from '../agent/index.ts'
import { areaCode, country } from '../core/rules.ts'
import { type Html, html } from '../core/text/html.ts'
import type { ChannelSetup } from './channel-setup.ts'
import type { Wrong } from './link.ts'
import { alertOf } from './page/failure-words.ts'
import type { Page } from './page/page.ts'
import { checked } from './page/rule.ts'

export type SmsSetupDeps = SetUpSmsDeps

const labelOf = ({ value, locality, price }: NumberOffer): string =>
  [value, locality, price && `${price.amount} ${price.currency} a month`].filter(Boolean).join(' · ')

interface Choice {
  value: string
  label: string
}

const options = (choices: readonly Choice[], chosen: string | null): Html[] =>
  choices.map(
    ({ value, label }) =>
      html`<option value="${value}"${value === chosen ? ' selected' : ''}>${label}</option>`,
  )

/**
 * Form to choose a number, and optionally to enter the user's own number, which is put on the agent's access
 * list. `typed` contains values submitted before.
 */
const choose = (
  choices: readonly Choice[],
  button: string,
  typed?: URLSearchParams,
): Html => html`<form method="post">
<label for="number">Number</label>
<select id="number" name="number">${options(choices, typed?.get('number') ?? null)}</select>
<label for="own">Your own mobile number (optional)</label>
<input id="own" name="own" value="${typed?.get('own') ?? ''}" type="tel" maxlength="40" autocomplete="tel" placeholder="+15551234567">
<p class="soft">The agent will accept texts from it, besides the numbers that you have verified.</p>
<button>${button}</button>
</form>`

const search = (form: URLSearchParams | undefined): Html => html`<form method="post">
<label for="country">Country (two letters, such as US or DE)</label>
<input id="country" name="country" value="${form?.get('country') ?? 'US'}" required maxlength="2" autocomplete="country" autocapitalize="characters" spellcheck="false">
<label for="areaCode">Area code (optional)</label>
<input id="areaCode" name="areaCode" value="${form?.get('areaCode') ?? ''}" maxlength="6" inputmode="numeric" autocomplete="off">
<button>Look for numbers</button>
</form>`

const page = ({ agent }: Setup, status: number, body: readonly Html[]): Page => ({
  status,
  title: `A phone number for ${agent.name}`,
  body: html`<p>Texts to this number will reach the agent, and it will reply from it.</p>
${body}`,
})

const NOBODY = 'No number of yours is on the agent’s access list: texts from you are refused until one is.'

const done = ({ value, listed }: { value: string; listed: readonly string[] }): Page => ({
  status: 200,
  title: 'The number is set up',
  body: html`<code>${value}</code><p>Texts to it reach the agent from now on, if its access list admits the sender.</p>
<p>${listed.length > 0 ? `You can text it from ${listed.join(', ')}.` : NOBODY}</p>`,
})

/**
 * Returns the number chosen before another field was rejected, so that the user does not have to search
 * again.
 */
const chosenBefore = (wrong: Wrong | null): Choice[] => {
  const value = wrong?.status === 400 ? wrong.form.get('number') : null
  return value ? [{ value, label: value }] : []
}

const BY_A_MEMBER = html`<p class="soft">The agent created this link. To rent a new number, a member can create a link for it, or rent the number first: then it can be chosen here.</p>`

/** Options on a link created by the agent itself: nothing that costs money. */
const fromPool = (pool: readonly Choice[], wrong: Wrong | null): Html => {
  const choices =
    pool.length > 0
      ? choose(pool, 'Use this number', wrong?.form)
      : html`<p>Your workspace has no unassigned number.</p>`
  return html`${choices}
${BY_A_MEMBER}`
}

/**
 * Offers the numbers in the workspace's pool first and then, if a member created the link, numbers to rent,
 * searched by country and area code.
 */
export const createSmsSetup = (deps: SmsSetupDeps): ChannelSetup => {
  const form = async (setup: Setup, wrong: Wrong | null): Promise<Page> => {
    const free = await deps.phoneNumbers.list(setup.agent.workspaceId, { free: true })
    const pool = free.map(({ value }) => ({ value, label: value }))
    if (!mayRent(setup)) return page(setup, wrong?.status ?? 200, [...alertOf(wrong), fromPool(pool, wrong)])
    const chosen = chosenBefore(wrong).filter(({ value }) => !pool.some((one) => one.value === value))
    const numbers = [
      ...(chosen.length > 0 ? [choose(chosen, 'Rent and set up', wrong?.form)] : []),
      ...(pool.length > 0
        ? [
            html`<p>Your workspace has numbers that no agent uses:</p>`,
            choose(pool, 'Use this number', wrong?.form),
          ]
        : []),
    ]
    const rentHint = html`<p>${numbers.length > 0 ? 'Or rent another one:' : 'Rent a number for it:'}</p>`
    return page(setup, wrong?.status ?? 200, [...alertOf(wrong), ...numbers, rentHint, search(wrong?.form)])
  }
  const offers = async (setup: Setup, fields: URLSearchParams): Promise<Page> => {
    const wanted = checked(country, 'country', fields.get('country') ?? '')
    const area = fields.get('areaCode')?.trim() || null
    const found = await searchNumbersFor(deps, setup, wanted, area && checked(areaCode, 'areaCode', area))
    const choices = found.map((one) => ({ value: one.value, label: labelOf(one) }))
    const result =
      choices.length > 0
        ? choose(choices, 'Rent and set up')
        : html`<p class="bad" role="alert">There are none.</p>`
    return page(setup, 200, [result, html`<p>Look elsewhere:</p>`, search(fields)])
  }
  return {
    form,
    submit: async (setup, token, fields) => {
      const value = fields.get('number')
      if (value === null) return offers(setup, fields)
      const made = await setUpPhoneNumber(deps, token, { value, own: fields.get('own')?.trim() ?? '' })
      return made && done(made)
    },
  }
}
