import { parseTimestamp } from '../calendar/calendar.ts'
import { OperatorError } from '../operator-error.ts'
import { requirePartner } from '../partners/manage.ts'
import { listDeliveries } from '../webhooks/deliveries.ts'
import { getEndpoint } from '../webhooks/endpoints.ts'
import { replayTo, type Selection } from '../webhooks/replay.ts'
import { replayedOf } from '../webhooks/view.ts'
import { type Command, choiceOf, type Input, UsageError } from './command.ts'
import { inWorkspace } from './workspace.ts'

const deliveries: Command = {
  name: 'deliveries',
  arguments: ['PARTNER'],
  summary: 'List deliveries of a partner: those that wait, were given up, or arrived lately.',
  options: {
    status: { type: 'string', value: 'STATUS', help: 'waiting, dead or delivered (default: all)' },
    limit: { type: 'string', value: 'N', help: 'how many at most (default 50)' },
  },
  run: async input => {
    const status = choiceOf(input, 'status', ['waiting', 'dead', 'delivered'])
    const limit = limitOf(input)
    await inWorkspace(input, async ({ database }) => {
      const row = await requirePartner(database, input.positionals[0] ?? '')
      const rows = await listDeliveries(database, {
        partnerId: row.partner_id,
        limit,
        ...(status === undefined ? {} : { status }),
      })
      const listed = rows.map(one => ({
        status: one.status,
        eventid: one.event_id,
        eventname: one.eventname,
        webhookid: one.endpoint_id,
        attempts: one.attempts,
        at: new Date(one.at).toISOString(),
      }))
      input.print(
        { deliveries: listed },
        listed.map(
          one =>
            `${one.status.padEnd(10)}${one.at}  ${one.eventname}  ${one.eventid}  to ${one.webhookid}  tries ${one.attempts}`,
        ),
      )
    })
  },
}

const limitOf = (input: Input): number => {
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
    status: { type: 'string', value: 'STATUS', help: 'dead or waiting' },
    from: {
      type: 'string',
      value: 'TIME',
      help: 'events raised from this time on, YYYY-MM-DDTHH:mm:ss.sssZ',
    },
    to: { type: 'string', value: 'TIME', help: 'and before this time (default: now)' },
    event: { type: 'string', multiple: true, value: 'ID', help: 'these events' },
    'dry-run': { type: 'boolean', help: 'only count' },
  },
  run: async input => {
    const selection = selectionOf(input, Date.now())
    const dryRun = input.flag('dry-run')
    await inWorkspace(input, async ({ database, real }) => {
      const [partner = '', webhook = ''] = input.positionals
      const row = await requirePartner(database, partner)
      const isUuid = /^[0-9a-f-]{36}$/.test(webhook)
      if (!isUuid || !(await getEndpoint(database, row.partner_id, webhook))) {
        throw new OperatorError(
          `There is no webhook ${webhook} of this partner: see \`enrolment webhook list ${partner}\`.`,
        )
      }
      const outcome = await database.transaction(tx =>
        replayTo(tx, { partnerId: row.partner_id, endpointId: webhook }, { selection, now: real(), dryRun }),
      )
      const replayed = replayedOf(outcome, dryRun)
      const { count, complete, continuefrom } = replayed
      const rest = continuefrom === null ? 'the same again' : `--from ${continuefrom}`
      input.print(replayed, [
        dryRun ? `${count} would be sent again.` : `${count} will be sent again.`,
        ...(complete ? [] : [`Not all: go on with ${rest}.`]),
      ])
    })
  },
}

/** Which events are meant: exactly one way of saying it. Throws UsageError. */
const selectionOf = (input: Input, now: number): Selection => {
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
    if (!ids.every(id => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id)))
      throw new UsageError('--event must be an event id; see --help.')
    return { kind: 'ids', ids }
  }
  if (status !== undefined) return { kind: 'status', status }
  const range = {
    from: timeOf('--from', from ?? ''),
    to: timeOf('--to', input.text('to') ?? new Date(now).toISOString()),
  }
  if (range.to <= range.from)
    throw new UsageError('--to, or now where it is not given, must be after --from; see --help.')
  return { kind: 'range', ...range }
}

const timeOf = (name: string, text: string): number => {
  const time = parseTimestamp(text)
  if (time === undefined) throw new UsageError(`${name} must look like 2026-11-20T15:04:05.000Z; see --help.`)
  return time
}

/** The commands about deliveries. */
export const deliveryCommands: readonly Command[] = [deliveries, replay]
