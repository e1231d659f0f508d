import { createBotStore } from '../agent/index.ts'
import { listNumbers } from '../channel/sms/numbers.ts'
import { Twilio } from '../channel/sms/twilio.ts'
import { MESSAGES } from '../channel/sms/webhooks.ts'
import { type BotApi, createBotApi } from '../channel/telegram/bot-api.ts'
import { MANAGER_PATH, WEBHOOK_PATH } from '../channel/telegram/webhook.ts'
import type { Config } from '../config/config.ts'
import { messageOf } from '../core/errors.ts'
import { probeRelay } from '../mail/index.ts'
import type { OpenDatabase } from './database.ts'
import { checkObjectStore } from './object-store.ts'
import { type Finding, ok, problem, skipped, warning } from './report.ts'

const TIMEOUT_MS = 10_000
/** Telegram bots that are asked, one request each. */
const MAX_BOTS = 100
const FOLLOWS =
  'A running worker sets it within a minute; if it does not, see the log for the provider’s reason.'

const publicUrlOf = ({ publicUrl, port }: Config): string => publicUrl ?? `http://localhost:${port}`

/** Providers call over the public internet; stand-ins of a test do not. */
const checkCallable = (config: Config, provider: string, apiUrl: string): Finding[] =>
  publicUrlOf(config).startsWith('https:') || !apiUrl.startsWith('https:')
    ? []
    : [
        problem(
          `${provider} cannot call ${publicUrlOf(config)}: it needs a public https:// URL.`,
          'Set PUBLIC_URL.',
        ),
      ]

const checkRelay = async (url: string): Promise<Finding> => {
  const host = new URL(url).host
  try {
    await probeRelay(url, AbortSignal.timeout(TIMEOUT_MS))
    return ok(`The relay ${host} accepts the connection and the login.`)
  } catch (error) {
    const advice =
      'Correct SMTP_RELAY_URL (user and password are percent-encoded in it), or see the log of the relay.'
    return problem(`The relay ${host} cannot be used: ${messageOf(error)}`, advice)
  }
}

const checkRspamd = async (url: string): Promise<Finding> => {
  const advice = 'Start Rspamd, or correct RSPAMD_URL. Until then mail is accepted without a spam check.'
  try {
    const response = await fetch(`${url}/ping`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return response.ok
      ? ok(`Rspamd answers at ${url}.`)
      : problem(`RSPAMD_URL ${url} answers with ${response.status}.`, advice)
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } }
    return problem(`RSPAMD_URL ${url} does not answer (${cause?.code ?? messageOf(error)}).`, advice)
  }
}

const checkNumbers = async (
  config: Config,
  { db }: OpenDatabase,
  atTwilio: ReadonlyMap<string, string>,
): Promise<Finding[]> => {
  const numbers = await db.prisma.phoneNumber.findMany({ where: { addressId: { not: null } } })
  const wanted = publicUrlOf(config) + MESSAGES
  const findings = numbers.flatMap(({ value }) => {
    const url = atTwilio.get(value)
    if (url === undefined)
      return [problem(`The Twilio account no longer has ${value}.`, 'Give its agent another number.')]
    return url.split('#', 1)[0] === wanted
      ? []
      : [problem(`Twilio sends the texts of ${value} to ${url || 'nowhere'}, not to ${wanted}.`, FOLLOWS)]
  })
  return findings.length > 0 ? findings : [ok(`Twilio sends the texts of ${numbers.length} numbers here.`)]
}

const checkTwilio = async (
  config: Config,
  account: NonNullable<Config['twilio']>,
  database: OpenDatabase | null,
): Promise<Finding[]> => {
  const twilio = new Twilio(account)
  const listed = await listNumbers(twilio)
  if ('reason' in listed)
    return [
      problem(
        `Twilio refuses: ${listed.reason}.`,
        'Correct TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN (see console.twilio.com).',
      ),
    ]
  return [
    ok(`Twilio accepts the account; it has ${listed.numbers.size} numbers.`),
    ...checkCallable(config, 'Twilio', account.apiUrl),
    ...(database?.migrated ? await checkNumbers(config, database, listed.numbers) : []),
  ]
}

const TOKEN_ADVICE = 'Get its current token from BotFather.'

/** Checks where Telegram sends a bot's updates, and whether it could deliver the last one. */
const checkWebhook = async (api: BotApi, name: string, token: string, url: string): Promise<Finding[]> => {
  try {
    const info = await api.call(token, 'getWebhookInfo', undefined)
    if (info.url !== url)
      return [
        problem(`Telegram sends the updates of ${name} to ${info.url || 'nowhere'}, not to ${url}.`, FOLLOWS),
      ]
    const failed = info.last_error_message
    return failed && info.pending_update_count > 0
      ? [
          problem(
            `Telegram could not deliver ${info.pending_update_count} updates of ${name}: ${failed}.`,
            'Check that PUBLIC_URL can be reached from the internet, and its certificate.',
          ),
        ]
      : []
  } catch (error) {
    return [problem(`Telegram refuses ${name}: ${messageOf(error)}.`, TOKEN_ADVICE)]
  }
}

const checkManager = async (config: Config, api: BotApi, token: string): Promise<Finding[]> => {
  try {
    const { username, can_manage_bots } = await api.call(token, 'getMe', undefined)
    const url = `${publicUrlOf(config)}${WEBHOOK_PATH}/${MANAGER_PATH}`
    return [
      can_manage_bots
        ? ok(`@${username} may create bots.`)
        : problem(`@${username} (TELEGRAM_MANAGER_TOKEN) may not manage bots.`, 'Enable it in BotFather.'),
      ...(await checkWebhook(api, `@${username}`, token, url)),
    ]
  } catch (error) {
    return [problem(`Telegram refuses TELEGRAM_MANAGER_TOKEN: ${messageOf(error)}.`, TOKEN_ADVICE)]
  }
}

const checkBots = async (config: Config, api: BotApi, database: OpenDatabase): Promise<Finding[]> => {
  const { db, keyring } = database
  if (!keyring) return []
  const store = createBotStore({ ...db, keyring })
  const bots = await db.prisma.telegramBot.findMany({ include: { address: true }, take: MAX_BOTS })
  const findings: Finding[] = []
  for (const { addressId, address } of bots) {
    const token = await store.token(addressId).catch(() => null)
    const url = `${publicUrlOf(config)}${WEBHOOK_PATH}/${addressId}`
    if (token !== null) findings.push(...(await checkWebhook(api, address.value, token, url)))
    else findings.push(problem(`The token of ${address.value} cannot be decrypted.`, 'Enter it again.'))
  }
  if (bots.length === 0 || findings.length > 0) return findings
  return [ok(`Telegram sends the updates of ${bots.length} bots here.`)]
}

const checkTelegram = async (config: Config, database: OpenDatabase | null): Promise<Finding[]> => {
  const { managerToken, apiUrl } = config.telegram
  const api = createBotApi({ apiUrl, callMs: TIMEOUT_MS })
  const own = managerToken
    ? [...checkCallable(config, 'Telegram', apiUrl), ...(await checkManager(config, api, managerToken))]
    : []
  return database?.migrated ? [...own, ...(await checkBots(config, api, database))] : own
}

const checkSes = (config: Config): Finding[] => {
  if (config.sesTopics.length === 0) return []
  const url = `${publicUrlOf(config)}/inbound/ses`
  return url.startsWith('https:')
    ? [skipped(`Whether Amazon SNS delivers to ${url} is visible only in the AWS console.`)]
    : [warning(`Amazon SNS delivers to ${url}, without TLS.`, 'Set PUBLIC_URL to an https:// URL.')]
}

/** Checks the services of others that are configured: the relay, Rspamd, Twilio, Telegram, Amazon SES, the object store. */
export const checkProviders = async (config: Config, database: OpenDatabase | null): Promise<Finding[]> => {
  const { smtp, rspamdUrl, twilio } = config
  const findings = await Promise.all([
    smtp.relayUrl ? checkRelay(smtp.relayUrl).then((finding) => [finding]) : [],
    rspamdUrl ? checkRspamd(rspamdUrl).then((finding) => [finding]) : [],
    twilio ? checkTwilio(config, twilio, database) : [],
    checkTelegram(config, database),
    checkSes(config),
    checkObjectStore(config, database),
  ])
  const all = findings.flat()
  return all.length > 0 ? all : [skipped('No provider is configured.')]
}
