import type { Zone } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import { disableEndpoint, enableEndpoint } from '../../webhooks/endpoint/endpoints.ts'
import { type ListedDelivery, listDeliveries } from '../../webhooks/log/deliveries.ts'
import { recordAlongside } from '../screen/record.ts'
import { type Answer, type OperatorVisit, onChange, onGet, reasonOf, type Screen } from '../screen/screen.ts'
import { answerInWords } from '../views/answer.ts'
import { actionForm, facts, section, table, tag, when } from '../views/parts.ts'
import {
  answersOf,
  countOf,
  healthInWords,
  type NamedEndpoint,
  requiredEndpoint,
  stateTag,
} from './endpoint.ts'
import { endpointSecretParts, endpointSecretScreens } from './secrets.ts'
import { againPart, sendAgain } from './send-again.ts'
import { type EndpointLine, findNewestAttempts, type NewestAttempt } from './store.ts'

/** One endpoint, and the actions on it. */
export const webhookScreens: readonly Screen[] = [
  ...endpointSecretScreens,
  onGet('/webhooks/:endpointid', 'integration', show),
  onChange('/webhooks/:endpointid/replay', 'again', replay),
  onChange('/webhooks/:endpointid/pause', 'administer', pause),
  onChange('/webhooks/:endpointid/enable', 'administer', enable),
]

async function show(visit: OperatorVisit, outcome?: Slot): Promise<Answer> {
  const endpoint = await requiredEndpoint(visit)
  const { partner, line, target } = endpoint
  const open = visit.may('look') ? await firstOpenLines(visit, endpoint) : []
  const sees = visit.may('support')
  const ids = [...open.map(one => one.event_id), ...(line.last_event === null ? [] : [line.last_event])]
  const answers = await answersOf(visit, endpoint, ids)
  const attempts = await findNewestAttempts(visit.context.database, target)
  const now = visit.context.real()
  const zone = partner.timezone
  const said = line.last_event === null ? undefined : answers.get(line.last_event)
  const action = (name: string) => `/webhooks/${line.endpoint_id}/${name}`
  return {
    title: `Webhook ${new URL(line.url).host}`,
    body: html`${outcome}
<section class="card across">${facts([
      ['Partner', html`<a href="/partners/${partner.partnerId}">${partner.name}</a>`],
      [
        'State',
        html`${stateTag(line, now)} ${healthInWords(line, now, zone)}${
          said !== undefined && html`, first line: <code>${said}</code>`
        }`,
      ],
      ['Waiting', countOf(line.waiting)],
      ['Given up', countOf(line.dead)],
      line.certificate_ends_at !== null && ['Certificate ends', when(line.certificate_ends_at, zone)],
      // A path may hold a secret of the receiver.
      (sees || visit.may('rotate')) && ['Address', html`<code>${line.url}</code>`],
      ['Made', when(line.created_at, zone)],
    ])}</section>
<div class="columns"><div>${
      visit.may('look') &&
      section(
        'What waits',
        html`${heldHint(line, zone)}${table({
          caption: 'The first of what waits or was given up',
          columns: ['Event', 'State', 'Attempts', 'Due or given up', ...(sees ? ['Answered last'] : [])],
          rows: open.map(one => [
            html`<a href="/users/${one.service_id}#event-${one.event_id}"><code>${one.eventname}</code></a>`,
            one.status === 'waiting' ? tag('waiting', 'wait') : tag('given up', 'bad'),
            one.attempts,
            when(one.at, zone),
            ...(sees ? [html`<code>${answers.get(one.event_id) ?? '–'}</code>`] : []),
          ]),
          empty: 'Nothing waits, and nothing was given up.',
        })}`,
        open.length > 0 &&
          html`<span><a href="/webhooks/${line.endpoint_id}/deliveries?state=waiting">All that waits</a> ·
<a href="/webhooks/${line.endpoint_id}/deliveries?state=given+up">All given up</a></span>`,
      )
    }
${attemptsPart(attempts, zone)}</div><div>
${visit.may('again') && againPart(visit, endpoint)}
${visit.may('rotate') && endpointSecretParts(visit, line)}
${
  visit.may('administer') &&
  section(
    line.disabled_at === null ? 'Pause' : 'Enable',
    line.disabled_at === null
      ? html`<p class="hint">Nothing is sent to it until it is enabled; its events are held. Other endpoints go on.</p>
${actionForm(visit, { action: action('pause'), button: 'Pause', color: 'danger', why: 'why-pause' })}`
      : html`<p class="hint">What is held is sent, oldest first, at a growing pace:
${countOf(line.waiting)} waiting.</p>
${actionForm(visit, { action: action('enable'), button: 'Enable', color: 'primary', why: 'why-enable' })}`,
  )
}</div></div>`,
  }
}

/** The newest attempts, of which nothing names a person. */
function attemptsPart(attempts: readonly NewestAttempt[], zone: Zone): Slot {
  return section(
    'Attempts',
    table({
      caption: 'The newest attempts',
      columns: ['When', 'Event', 'Answer', 'Took'],
      rows: attempts.map(one => [
        html`${when(one.started_at, zone)}${
          one.attempt > 1 && html`<br><span class="hint">attempt ${one.attempt}</span>`
        }`,
        html`<code>${one.eventname}</code><br><span class="hint"><code>${one.event_id}</code></span>`,
        answerInWords(one.status, one.error_class),
        `${one.total_ms} ms`,
      ]),
      empty: 'None for the newest events.',
    }),
  )
}

/** Why events that are due are not sent. */
function heldHint({ disabled_at, held_until, waiting }: EndpointLine, zone: Zone): Slot {
  if (disabled_at !== null || held_until === null || waiting === 0) return ''
  const next = when(held_until, zone)
  return html`<p class="hint">While it fails, one event is tried at a time, the oldest that is due, not before ${next}.
Once it accepts one, the others follow by themselves.</p>`
}

/** The first of what was tried and waits, of what waits for its first try, and of what was given up. */
async function firstOpenLines(
  { context: { database } }: OperatorVisit,
  { target }: NamedEndpoint,
): Promise<ListedDelivery[]> {
  const first = { ...target, limit: FIRST_LINES }
  const found = await Promise.all([
    listDeliveries(database, { ...first, status: 'waiting', queues: ['retry'] }),
    listDeliveries(database, { ...first, status: 'waiting', queues: ['fresh', 'replay'] }),
    listDeliveries(database, { ...first, status: 'dead' }),
  ])
  // An erasure may just have removed the event of one.
  return found.flat().filter(one => one.service_id !== '')
}

const FIRST_LINES = 10

async function replay(visit: OperatorVisit): Promise<Answer> {
  return show(visit, await sendAgain(visit, await requiredEndpoint(visit)))
}

function pause(visit: OperatorVisit): Promise<Answer> {
  return change(visit, 'pause webhook', (tx, named, at) =>
    disableEndpoint(tx, named, { reason: 'operator', at }),
  )
}

function enable(visit: OperatorVisit): Promise<Answer> {
  return change(visit, 'enable webhook', enableEndpoint)
}

async function change(visit: OperatorVisit, action: string, make: typeof enableEndpoint): Promise<Answer> {
  const { partner, target } = await requiredEndpoint(visit)
  const reason = reasonOf(visit)
  const { database, real } = visit.context
  await database.transaction(async tx => {
    await make(tx, target, real())
    await tx.query(recordAlongside(visit, { action, partner, reason }))
  })
  return { to: `/webhooks/${target.endpointId}` }
}
