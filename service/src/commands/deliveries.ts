import { parseTimestamp } from '../calendar/calendar.ts'
import { OperatorError } from '../operator-error.ts'
import { requirePartner } from '../partners/manage.ts'
import { listDeliveries } from '../webhooks/deliveries.ts'
import { getEndpoint } from '../webhooks/endpoints.ts'
import { replayTo, type Selection } from '../webhooks/replay.ts'
import type { Command, Input } from './command.ts'
import { inWorkspace } from './workspace.ts'

const deliveries: Command = {
  name: 'deliveries',
  arguments: ['PARTNER'],
  summary: 'List deliveries of a partner: those that wait, were given up, or arrived lately.',
  options: {
    status: { type: 'string', value: 'STATUS', help: 'waiting, dead or delivered (default: all)' },
    limit: { type: 'string', value: 'N', help: 'how many at most (default 50)' },
  },
  run: input =>
    inWorkspace(input, async ({ database }) => {
      const row = await requirePartner(database, input.positionals[0] ?? '')
      const status = statusOf(input.text('status'))
      const limit = Number(input.text('limit') ?? '50')
      if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
        throw new OperatorError('--limit must be a whole number from 1 to 10000.')
      }
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
    }),
}

const statusOf = (text: string | undefined): 'waiting' | 'dead' | 'delivered' | undefined => {
  if (text === undefined || text === 'waiting' || text === 'dead' || text === 'delivered') return text
  throw new OperatorError('--status must be waiting, dead or delivered.')
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
  run: input =>
    inWorkspace(input, async ({ database, real }) => {
      const [partner = '', webhook = ''] = input.positionals
      const row = await requirePartner(database, partner)
      const isUuid = /^[0-9a-f-]{36}$/.test(webhook)
      if (!isUuid || !(await getEndpoint(database, row.partner_id, webhook))) {
        throw new OperatorError(
          `There is no webhook ${webhook} of this partner: see \`enrolment webhook list ${partner}\`.`,
        )
      }
      const selection = selectionOf(input, real())
      const outcome = await database.transaction(tx =>
        replayTo(
          tx,
          { partnerId: row.partner_id, endpointId: webhook },
          { selection, now: real(), dryRun: input.flag('dry-run') },
        ),
      )
      const more =
        outcome.continueFrom === null
          ? []
          : [`Not all: go on with --from ${new Date(outcome.continueFrom).toISOString()}.`]
      input.print({ count: outcome.count, complete: outcome.isComplete, dryrun: input.flag('dry-run') }, [
        input.flag('dry-run')
          ? `${outcome.count} would be sent again.`
          : `${outcome.count} will be sent again.`,
        ...more,
      ])
    }),
}

/** Which events are meant: exactly one way of saying it. */
const selectionOf = (input: Input, now: number): Selection => {
  const status = input.text('status')
  const from = input.text('from')
  const ids = input.list('event')
  if ([status !== undefined, from !== undefined, ids.length > 0].filter(Boolean).length !== 1) {
    throw new OperatorError('Say which events: --status dead, or --from TIME [--to TIME], or --event ID.')
  }
  if (ids.length > 0) {
    if (!ids.every(id => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id)))
      throw new OperatorError('--event must be an event id.')
    return { kind: 'ids', ids }
  }
  if (status !== undefined) {
    if (status !== 'dead' && status !== 'waiting')
      throw new OperatorError('--status must be dead or waiting.')
    return { kind: 'status', status }
  }
  return {
    kind: 'range',
    from: timeOf('--from', from ?? ''),
    to: timeOf('--to', input.text('to') ?? new Date(now).toISOString()),
  }
}

const timeOf = (name: string, text: string): number => {
  const time = parseTimestamp(text)
  if (time === undefined) throw new OperatorError(`${name} must look like 2026-11-20T15:04:05.000Z.`)
  return time
}

/** The commands about deliveries. */
export const deliveryCommands: readonly Command[] = [deliveries, replay]
