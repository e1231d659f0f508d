import type { Config } from '../config/config.ts'
import type { OpenDatabase } from './database.ts'
import { type Finding, ok, problem, skipped, warning } from './report.ts'

/** Deviation in milliseconds that nobody notices. An HTTP Date has whole seconds. */
const TOLERATED_MS = 3_000
/** Receivers of webhooks refuse timestamps that are 5 minutes off (Standard Webhooks). */
const WRONG_MS = 60_000
const TIMEOUT_MS = 5_000

const ADVICE = 'Synchronize it: timedatectl set-ntp true, or install chrony.'

/** Judges how far this machine is from another clock that was read between `from` and `to`. */
const judge = (whose: string, theirs: number, { from, to }: { from: number; to: number }): Finding => {
  const off = theirs < from ? from - theirs : Math.max(0, theirs - to)
  if (off <= TOLERATED_MS) return ok(`The clock agrees with ${whose}.`)
  const seconds = Math.round(off / 1000)
  const message = `The clock of this machine is ${seconds} s ${theirs < from ? 'ahead of' : 'behind'} ${whose}.`
  return off > WRONG_MS ? problem(message, ADVICE) : warning(message, ADVICE)
}

const checkDatabaseClock = async ({ db }: OpenDatabase): Promise<Finding> => {
  await db.pool.query('select 1') // opening the connection takes a while
  const from = Date.now()
  const { rows } = await db.pool.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
  )
  return judge('that of the database', rows[0]!.now, { from, to: Date.now() })
}

const checkHttpClock = async (url: string): Promise<Finding> => {
  const { host } = new URL(url)
  try {
    const from = Date.now()
    const response = await fetch(url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const date = Date.parse(response.headers.get('date') ?? '')
    return Number.isNaN(date)
      ? skipped(`${host} does not say what time it is.`)
      : judge(`that of ${host}`, date, { from, to: Date.now() })
  } catch {
    return skipped(`${host} could not be asked for the time.`)
  }
}

/** Compares this machine's clock with the database's, and with that of a provider that is configured. */
export const checkClock = async (
  { telegram, twilio, publicUrl }: Config,
  database: OpenDatabase | null,
): Promise<Finding[]> => {
  const url = telegram.managerToken ? telegram.apiUrl : (twilio?.apiUrl ?? publicUrl)
  return [
    database
      ? await checkDatabaseClock(database)
      : skipped('There is no database to compare the clock with.'),
    url === undefined
      ? skipped('No other server is configured whose clock could be asked.')
      : await checkHttpClock(url),
  ]
}
