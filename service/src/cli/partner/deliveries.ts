import {
  type Command,
  choiceOf,
  flag,
  type Input,
  repeatable,
  UsageError,
  valued,
} from '@benefit-enrolment/command'
import { type Instant, isRealDate, parseTimestamp, startOfDate, type Zone } from '../../calendar/calendar.ts'
import { OperatorError } from '../../operator-error.ts'
import { requirePartner } from '../../partners/administer.ts'
import { partnerOf } from '../../partners/keys.ts'
import { isUuid } from '../../vault/uuid.ts'
import { attemptOf, replayedOf } from '../../webhooks/api/view.ts'
import { getEndpoint } from '../../webhooks/endpoint/endpoints.ts'
import { findLastAttempts } from '../../webhooks/log/attempts.ts'
import { findEventsOfUser, listDeliveries } from '../../webhooks/log/deliveries.ts'
import { replayTo, type Selection } from '../../webhooks/log/replay.ts'
import { readDate } from '../date-option.ts'
import { inWorkspace } from '../workspace.ts'

const deliveries: Command = {
  name: 'deliveries',
  arguments: ['PARTNER'],
  summary: 'List deliveries of a partner that wait, were given up, or arrived, each with its last answer.',
  options: {
    status: valued('STATUS', 'waiting, dead or delivered (default: all)'),
    user: valued('USERID', 'only those about this user'),
    event: valued('ID', 'only those of this event'),
    webhook: valued('ID', 'only those to this endpoint'),
    limit: valued('N', 'how many at most (default 50)'),
  },
  run: async input => {
    const status = choiceOf(input, 'status', ['waiting', 'dead', 'delivered'])
    const limit = limitOf(input)
    const event = uuidOf(input, 'event')
    const endpointId = uuidOf(input, 'webhook')
    const userid = input.text('user')
    if (event !== undefined && userid !== undefined)
      throw new UsageError('Give --user or --event, not both; see --help.')
    await inWorkspace(input, async ({ database, keyring }) => {
      const row = await requirePartner(database, input.positionals[0] ?? '')
      const partnerId = row.partner_id
      const named = event === undefined ? undefined : [event]
      const partner = partnerOf(row, keyring)
      const events = userid === undefined ? named : await findEventsOfUser(database, partner, userid)
      const rows = await listDeliveries(database, { partnerId, limit, status, endpointId, events })
      const last = await findLastAttempts(
        database,
        partner,
        rows.map(one => one.event_id),
      )
      const listed = rows.map(one => {
        const attempt = last.get(`${one.event_id} ${one.endpoint_id}`)
        return {
          status: one.status,
          eventid: one.event_id,
          eventname: one.eventname,
          userid: one.userid,
          webhookid: one.endpoint_id,
          attempts: one.attempts,
          at: new Date(one.at).toISOString(),
          lastattempt: attempt === undefined ? null : attemptOf(attempt),
        }
      })
      input.print(
        { deliveries: listed },
        listed.map(
          one =>
            `${one.status.padEnd(10)}${one.at}  ${one.eventname}  ${one.eventid}  to ${one.webhookid}  attempts ${one.attempts}${answeredLine(one.lastattempt)}`,
        ),
      )
    })
  },
}

/** The result of an attempt in a few words: the status or the fault, and the stored part of the answer. */
export function answeredLine(attempt: ReturnType<typeof attemptOf> | null): string {
  if (attempt === null) return ''
  const { status, error, answer } = attempt
  return `  ${status === null ? error : `answered ${status}`}${answer ? `: ${answer}` : ''}`
}

/** An option whose value is an id; `undefined` when it is not given. Throws UsageError when the value is no id. */
function uuidOf(input: Input, name: string): string | undefined {
  const text = input.text(name)
  if (text !== undefined && !isUuid(text))
    throw new UsageError(`--${name} must be an id like 019abc12-0000-7000-8000-000000000000; see --help.`)
  return text
}

function limitOf(input: Input): number {
  const limit = Number(input.text('limit') ?? '50')
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw new UsageError('--limit must be a whole number from 1 to 10000; see --help.')
  return limit
}

const replay: Command = {
  name: 'replay',
  arguments: ['PARTNER', 'WEBHOOK'],
  summary: 'Send past events to an endpoint again, oldest first, with the same key and bytes.',
  options: {
    status: valued('STATUS', 'dead or waiting'),
    from: valued(
      'TIME',
      "events raised from this time on, YYYY-MM-DDTHH:mm:ss.sssZ, or from this day of the partner's on, YYYY-MM-DD",
    ),
    to: valued('TIME', 'and before this time or day (default: now)'),
    event: repeatable('ID', 'these events'),
    'dry-run': flag('only count'),
  },
  run: async input => {
    const selected = selectionOf(input)
    const dryRun = input.flag('dry-run')
    await inWorkspace(input, async ({ database, real, commit }) => {
      const [partner = '', webhook = ''] = input.positionals
      const row = await requirePartner(database, partner)
      const selection = selected(row.timezone, real())
      if (!isUuid(webhook) || !(await getEndpoint(database, row.partner_id, webhook))) {
        throw new OperatorError(
          `There is no webhook ${webhook} of this partner: see \`enrolment webhook list ${partner}\`.`,
        )
      }
      const target = { partnerId: row.partner_id, endpointId: webhook }
      const outcome = await commit(tx => replayTo(tx, target, { selection, now: real(), dryRun }))
      const replayed = replayedOf(outcome, dryRun)
      const { count, complete, continuefrom } = replayed
      const rest = continuefrom === null ? 'the same again' : `--from ${continuefrom}`
      const unknown = selection.kind === 'ids' ? new Set(selection.ids).size - outcome.known : 0
      input.print(unknown > 0 ? { ...replayed, unknown } : replayed, [
        ...(unknown > 0 ? [`${unknown} of the ids are of no event of this partner.`] : []),
        dryRun ? `${count} would be sent again.` : `${count} will be sent again.`,
        ...(complete ? [] : [`Not all: go on with ${rest}.`]),
      ])
    })
  },
}

/**
 * The events to replay, which exactly one kind of option must select. Days are in the partner's time zone, which
 * becomes known later. Throws UsageError.
 */
function selectionOf(input: Input): (zone: Zone, now: number) => Selection {
  const status = choiceOf(input, 'status', ['dead', 'waiting'])
  const from = input.text('from')
  const ids = input.list('event')
  if ([status !== undefined, from !== undefined, ids.length > 0].filter(Boolean).length !== 1) {
    throw new UsageError(
      'Say which events: --status dead, or --from TIME [--to TIME], or --event ID; see --help.',
    )
  }
  if (from === undefined && input.text('to') !== undefined)
    throw new UsageError('--to goes with --from only; see --help.')
  if (ids.length > 0) {
    if (!ids.every(isUuid)) throw new UsageError('--event must be an event id; see --help.')
    return () => ({ kind: 'ids', ids })
  }
  if (status !== undefined) return () => ({ kind: 'status', status })
  const begins = timeOf('from', from ?? '')
  const to = input.text('to')
  const ends = to === undefined ? undefined : timeOf('to', to)
  return (zone, now) => {
    const range = { from: begins(zone), to: ends?.(zone) ?? now }
    if (range.to <= range.from)
      throw new UsageError('--to, or now where it is not given, must be after --from; see --help.')
    return { kind: 'range', ...range }
  }
}

function timeOf(name: string, text: string): (zone: Zone) => Instant {
  if (isRealDate(text)) {
    const date = readDate(name, text)
    return zone => startOfDate(date, zone)
  }
  const time = parseTimestamp(text)
  if (time === undefined)
    throw new UsageError(`--${name} must look like 2026-11-20 or 2026-11-20T15:04:05.000Z; see --help.`)
  return () => time
}

/** The commands about deliveries. */
export const deliveryCommands: readonly Command[] = [deliveries, replay]
