import { addDays, dateAt, startOfDate } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import { type ReplayOutcome, replayTo, type Selection } from '../../webhooks/log/replay.ts'
import { recordAlongside } from '../screen/record.ts'
import { ConsoleRefusal, isAskedDay, type OperatorVisit, reasonOf } from '../screen/screen.ts'
import { actionForm, counted, section, writeDay } from '../views/parts.ts'
import type { NamedEndpoint } from './endpoint.ts'

/** The forms that count what would be sent to an endpoint again: of some days, or what was given up. */
export function againPart(visit: OperatorVisit, { partner, line }: NamedEndpoint): Slot {
  const action = replayPath(line)
  const yesterday = addDays(dateAt(visit.context.real(), partner.timezone), -1)
  const day = (name: string, label: string) =>
    html`<p class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" type="date" value="${
      visit.form.get(name) ?? yesterday
    }"></p>`
  return section(
    'Send again',
    html`<p class="hint">Key and bytes are those of the first time. It is counted first;
nothing is sent before you have seen how much. Days are those of ${partner.timezone}.</p>
${actionForm(visit, {
  action,
  button: 'Count',
  fields: html`<input type="hidden" name="what" value="range"><div class="row">${day('from', 'From')}${day(
    'until',
    'Until, included',
  )}</div>`,
})}
${actionForm(visit, {
  action,
  button: 'Count what was given up',
  fields: html`<input type="hidden" name="what" value="dead">`,
})}`,
  )
}

function replayPath({ endpoint_id }: NamedEndpoint['line']): string {
  return `/webhooks/${endpoint_id}/replay`
}

/** Counts what would be sent again, or sends it if the form says that the count was seen; returns what to show of it. */
export async function sendAgain(visit: OperatorVisit, endpoint: NamedEndpoint): Promise<Slot> {
  const { partner, target } = endpoint
  const { form, context } = visit
  const isMeant = form.get('sure') === 'yes'
  const reason = isMeant ? reasonOf(visit) : undefined
  const selection = selectionOf(form, partner)
  const outcome = await context.database.transaction(async tx => {
    const counted = await replayTo(tx, target, { selection, now: context.real(), dryRun: !isMeant })
    if (reason !== undefined) await tx.query(recordAlongside(visit, { action: 'replay', partner, reason }))
    return counted
  })
  const again = { ...endpoint, outcome }
  return isMeant ? toldAgain(again) : confirmAgain(visit, again)
}

type Again = NamedEndpoint & { readonly outcome: ReplayOutcome }

/** What would be sent again, with the form that sends it. */
function confirmAgain(visit: OperatorVisit, { partner, line, outcome }: Again): Slot {
  const of = wordsOf(selectionOf(visit.form, partner), partner)
  if (outcome.count === 0)
    return html`<div class="notice"
role="status"><p>There are no events${of} to send again.${waitsWords(line)}</p></div>`
  const kept = ['what', 'from', 'until'].flatMap(name => {
    const value = visit.form.get(name)
    return value === null ? [] : [html`<input type="hidden" name="${name}" value="${value}">`]
  })
  const count = outcome.isComplete ? counted(outcome.count, 'event') : `${outcome.count} or more events`
  return html`<section class="notice" role="status"><h2>${count}${of} would be sent again</h2>
${line.disabled_at !== null && html`<p>${HELD}</p>`}
${line.waiting > 0 && html`<p>${waitsWords(line)}</p>`}
${actionForm(visit, {
  action: replayPath(line),
  button: 'Send them again',
  color: 'primary',
  fields: html`${kept}<input type="hidden" name="sure" value="yes">`,
  why: 'why-replay',
})}</section>`
}

/** A replay leaves out what still waits, because that is sent anyway. */
function waitsWords({ waiting, disabled_at }: NamedEndpoint['line']): string {
  const when = disabled_at === null ? 'by itself' : 'once this endpoint is enabled'
  return waiting === 0 ? '' : ` What waits already is not counted: it is sent ${when}.`
}

/** What was done, for the operator who sent it again. */
function toldAgain({ line, outcome }: Again): Slot {
  const { count, isComplete } = outcome
  return html`<div class="notice" role="status"><p>${counted(count, 'event')} ${
    count === 1 ? 'is' : 'are'
  } sent again.${line.disabled_at !== null && ` ${HELD}`}${
    !isComplete && ' Not all: send the rest afterwards.'
  }</p></div>`
}

const HELD = 'This endpoint is disabled: they wait until it is enabled.'

/** The selected events. Throws a refusal when the days are invalid. */
function selectionOf(form: URLSearchParams, partner: Partner): Selection {
  if (form.get('what') === 'dead') return { kind: 'status', status: 'dead' }
  const [from = '', until = ''] = [form.get('from') ?? '', form.get('until') ?? '']
  if (!isAskedDay(from) || !isAskedDay(until) || from > until)
    throw new ConsoleRefusal(
      422,
      'Which days?',
      'Give a first and a last day, the last not before the first.',
    )
  return {
    kind: 'range',
    from: startOfDate(from, partner.timezone),
    to: startOfDate(addDays(until, 1), partner.timezone),
  }
}

function wordsOf(selection: Selection, { timezone }: Partner): string {
  if (selection.kind === 'status') return ' that were given up'
  if (selection.kind !== 'range') return ''
  const [first, last] = [writeDay(selection.from, timezone), writeDay(selection.to - 1, timezone)]
  return first === last ? ` of ${first}` : ` of ${first} to ${last}`
}
