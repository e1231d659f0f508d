import ICAL from 'ical.js'
import { oneLine } from '../../core/text/sanitize-text.ts'
import type { Budget } from '../decode/time-budget.ts'

const MAX_CHARACTERS = 1024 * 1024
const MAX_EVENTS = 10
const MAX_PEOPLE = 20

// Purpose of the calendar object (RFC 5546 1.4).
const METHODS: Record<string, string> = {
  request: 'Invitation',
  cancel: 'Cancelled',
  reply: 'Answer to an invitation',
  counter: 'Proposal of another time',
  declinecounter: 'Proposal declined',
  add: 'Further dates',
  refresh: 'Request for the latest version',
}

/**
 * Describes a calendar part for people: what, when (in its time zone and in UTC), how often, where, who.
 * Returns null if it is not a calendar or cannot be read in time. `whole` includes the description, for
 * messages without other text.
 */
export function describeCalendar(
  source: string,
  whole: boolean,
  budget: Budget,
  most = MAX_EVENTS,
): string | null {
  if (source.length > MAX_CHARACTERS) return null
  const inTimeWith = (utc: boolean) => inTime(source, { whole, utc, most }, budget)
  return inTimeWith(true) ?? inTimeWith(false)
}

interface Options {
  whole: boolean
  /** Whether to include times in UTC, the one step that may be slow. */
  utc: boolean
  /** Events that are described. */
  most: number
}

function inTime(source: string, options: Options, budget: Budget): string | null {
  // Usually takes a few milliseconds. Time zones are expanded year by year, but a hostile one second by
  // second.
  const parts = budget.spend(0.3, () =>
    calendarsOf(source).flatMap((calendar) => describe(calendar, options) ?? []),
  )
  return parts === null || parts.length === 0 ? null : parts.join('\n\n')
}

/** A file may contain several calendars. */
function calendarsOf(source: string): ICAL.Component[] {
  const parsed: unknown[] = ICAL.parse(source)
  return (typeof parsed[0] === 'string' ? [parsed] : parsed).map(
    (one) => new ICAL.Component(one as unknown[]),
  )
}

function describe(calendar: ICAL.Component, options: Options): string | null {
  const method = String(calendar.getFirstPropertyValue('method') ?? '').toLowerCase()
  const kind = Object.hasOwn(METHODS, method) ? METHODS[method]! : 'Event'
  const zones: Zones = !options.utc
    ? new Map()
    : new Map(
        calendar
          .getAllSubcomponents('vtimezone')
          .map((zone) => [String(zone.getFirstPropertyValue('tzid')), zone]),
      )
  const events = ['vevent', 'vtodo'].flatMap((name) => calendar.getAllSubcomponents(name))
  const parts = events.slice(0, options.most).map((event) => describeEvent(event, kind, zones, options.whole))
  if (events.length > options.most) parts.push(`(${events.length - options.most} more in the attachment)`)
  return parts.length === 0 ? null : parts.join('\n\n')
}

type Zones = ReadonlyMap<string, ICAL.Component>

function describeEvent(event: ICAL.Component, kind: string, zones: Zones, whole: boolean): string {
  const text = (name: string) => oneLine(String(event.getFirstPropertyValue(name) ?? ''), 500)
  const people = event.getAllProperties('attendee')
  const lines: [string, string][] = [
    [kind, text('summary') || '(no title)'],
    ['When', when(event, zones)],
    [
      'Repeats',
      text('rrule').replace(/^FREQ=(\w+);?/, (_, frequency: string) => `${frequency.toLowerCase()} `),
    ],
    ['Where', text('location')],
    ['Organizer', event.getAllProperties('organizer').map(personOf).join(', ')],
    [
      'Attendees',
      people.slice(0, MAX_PEOPLE).map(personOf).join(', ') +
        (people.length > MAX_PEOPLE ? ` and ${people.length - MAX_PEOPLE} more` : ''),
    ],
    ['Status', text('status').toLowerCase()],
  ]
  const description = whole ? String(event.getFirstPropertyValue('description') ?? '').trim() : ''
  const head = lines
    .filter(([, value]) => value.trim() !== '')
    .map(([name, value]) => `${name}: ${value.trim()}`)
  return head.join('\n') + (description === '' ? '' : `\n\n${description}`)
}

/** `Ann <ann@example.com> (accepted)` */
function personOf(person: ICAL.Property): string {
  const address = String(person.getFirstValue() ?? '').replace(/^mailto:/i, '')
  const name = person.getFirstParameter('cn')
  const status = person.getFirstParameter('partstat')
  const known = status && status !== 'NEEDS-ACTION' ? ` (${status.toLowerCase()})` : ''
  return oneLine(`${name ? `${name} <${address}>` : address}${known}`, 300)
}

function when(event: ICAL.Component, zones: Zones): string {
  const start = event.getFirstProperty('dtstart')
  const from = start?.getFirstValue()
  if (!start || !(from instanceof ICAL.Time)) return ''
  const to = endOf(event, from)
  const tzid = start.getFirstParameter('tzid')
  const zone = from.isDate
    ? ''
    : from.zone === ICAL.Timezone.utcTimezone
      ? 'UTC'
      : tzid
        ? oneLine(tzid, 100)
        : '(no time zone)'
  const span = to
    ? `${dateOf(from)} to ${sameDay(from, to) && !from.isDate ? dateOf(to).slice(11) : dateOf(to)}`
    : dateOf(from)
  const utc = tzid ? inUtc(from, zones.get(tzid)) : null
  return `${span} ${zone}${utc === null ? '' : ` (begins ${utc} UTC)`}${from.isDate ? '(all day)' : ''}`
}

function endOf(event: ICAL.Component, from: ICAL.Time): ICAL.Time | null {
  const duration = event.getFirstPropertyValue('duration')
  const given = event.getFirstPropertyValue('dtend') ?? event.getFirstPropertyValue('due')
  const end =
    given instanceof ICAL.Time ? given.clone() : duration instanceof ICAL.Duration ? from.clone() : null
  if (end === null) return null
  if (!(given instanceof ICAL.Time)) end.addDuration(duration as ICAL.Duration)
  // All-day events end on the following day (RFC 5545 3.6.1).
  if (end.isDate) end.addDuration(ICAL.Duration.fromString('-P1D'))
  return end.compareDateOnlyTz(from, ICAL.Timezone.localTimezone) === 0 && end.isDate ? null : end
}

const pad = (number: number) => String(number).padStart(2, '0')
const dateOf = (time: ICAL.Time): string =>
  `${time.year}-${pad(time.month)}-${pad(time.day)}${time.isDate ? '' : ` ${pad(time.hour)}:${pad(time.minute)}`}`

const sameDay = (one: ICAL.Time, other: ICAL.Time) => dateOf(one).slice(0, 10) === dateOf(other).slice(0, 10)

/** Converts a time to UTC with the zone definition in the calendar. Null if it has none. */
function inUtc(time: ICAL.Time, definition: ICAL.Component | undefined): string | null {
  if (definition === undefined) return null
  // Outlook's rules begin in 1601, and every year since then would be expanded.
  for (const observance of ['standard', 'daylight'].flatMap((name) => definition.getAllSubcomponents(name))) {
    const start = observance.getFirstPropertyValue('dtstart')
    if (start instanceof ICAL.Time && start.year < 1970) start.year = 1970
  }
  const zoned = time.clone()
  zoned.zone = new ICAL.Timezone(definition)
  return dateOf(zoned.convertToZone(ICAL.Timezone.utcTimezone))
}
