import { type Command, UsageError } from '@benefit-enrolment/command'
import { noPartner } from '../../audit/entries.ts'
import { timestampOrNull } from '../../calendar/calendar.ts'
import { OperatorError } from '../../operator-error.ts'
import { isUuid } from '../../vault/uuid.ts'
import { attemptOf, eventOf } from '../../webhooks/api/view.ts'
import { findAttempts } from '../../webhooks/log/attempts.ts'
import { findOpenDeliveries } from '../../webhooks/log/deliveries.ts'
import { findEvent, findOwnerOfEvent } from '../../webhooks/log/event-log.ts'
import { inWorkspace, partnerIn } from '../workspace.ts'
import { answeredLine } from './deliveries.ts'

const show: Command = {
  name: 'events show',
  arguments: ['ID'],
  summary:
    'Show an event of any partner: its content, its open deliveries, and every attempt with its answer.',
  run: async input => {
    const [text = ''] = input.positionals
    const eventId = text.toLowerCase()
    if (!isUuid(eventId))
      throw new UsageError('ID is the eventid, which is the Idempotency-Key of each delivery; see --help.')
    await inWorkspace(input, async workspace => {
      const { database, record } = workspace
      // An event's id has the form of a partner's id, and the audit entry would take it for one.
      record({ partnerId: noPartner })
      const partnerId = await findOwnerOfEvent(database, eventId)
      const event = partnerId === undefined ? undefined : await findEvent(database, partnerId, eventId)
      if (partnerId === undefined || !event)
        throw new OperatorError('No partner has an event of this id: events are kept for 30 days.')
      record({ partnerId })
      const partner = await partnerIn(workspace, partnerId)
      const attempts = (await findAttempts(database, partner, eventId)).map(attemptOf)
      const deliveries = (await findOpenDeliveries(database, partnerId, eventId)).map(one => ({
        webhookid: one.endpoint_id,
        status: one.status,
        attempts: one.attempts,
        dueattimestamp: timestampOrNull(one.due_at),
      }))
      const shown = { partnerid: partnerId, ...eventOf(event), deliveries, attempts }
      input.print(shown, [
        `event       ${shown.eventid}`,
        `name        ${shown.eventname}`,
        `partner     ${partnerId}  ${partner.name}`,
        `user        ${shown.userid}`,
        `raised      ${shown.createdat}`,
        `body        ${event.body.toString('utf8')}`,
        '',
        'Attempts',
        ...attempts.map(
          one =>
            `  ${one.startedat}  ${one.attempt} to ${one.webhookid}${answeredLine(one)}   ${one.totalms} ms`,
        ),
        ...(attempts.length === 0 ? ['  none yet'] : []),
        '',
        'Still to be delivered, or given up',
        ...deliveries.map(
          one =>
            `  ${one.status} to ${one.webhookid}, attempts ${one.attempts}${one.dueattimestamp ? `, next at ${one.dueattimestamp}` : ''}`,
        ),
        ...(deliveries.length === 0 ? ['  nowhere'] : []),
      ])
    })
  },
}

/** The commands about events. */
export const eventCommands: readonly Command[] = [show]
