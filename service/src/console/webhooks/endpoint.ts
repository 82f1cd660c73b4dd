import type { Zone } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import { isUuid } from '../../vault/uuid.ts'
import { findLastAttempts } from '../../webhooks/log/attempts.ts'
import { ownPartner } from '../partners.ts'
import { record } from '../screen/record.ts'
import { notHere, type OperatorVisit } from '../screen/screen.ts'
import { answerInWords } from '../views/answer.ts'
import { tag, when } from '../views/parts.ts'
import { type EndpointLine, findEndpointLines, MOST_COUNTED } from './store.ts'

/** An endpoint with its partner. */
export type NamedEndpoint = {
  readonly partner: Partner
  readonly line: EndpointLine
  /** The names of both. */
  readonly target: { readonly partnerId: string; readonly endpointId: string }
}

/** The endpoint of an address. Throws the refusal of an unknown one when the operator does not work for its partner. */
export async function requiredEndpoint(visit: OperatorVisit): Promise<NamedEndpoint> {
  const { database, real } = visit.context
  const id = visit.params['endpointid'] ?? ''
  const partners = [...visit.partnerNames.keys()]
  const [line] = isUuid(id) ? await findEndpointLines(database, partners, real(), id) : []
  if (!line) throw notHere('webhook')
  const target = { partnerId: line.partner_id, endpointId: line.endpoint_id }
  return { line, partner: await ownPartner(visit, line.partner_id), target }
}

/**
 * The first line of what the endpoint answered last to each of these events, for support and on record, since receivers echo
 * what they like.
 */
export async function answersOf(
  visit: OperatorVisit,
  endpoint: NamedEndpoint,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (!visit.may('support')) return new Map()
  const answers = await lastAnswers(visit, endpoint, ids)
  if (answers.size > 0)
    await record(visit, { action: 'look at answers', result: 'shown', partner: endpoint.partner })
  return answers
}

/** The same, without a record. */
export async function lastAnswers(
  { context }: OperatorVisit,
  { partner, line }: NamedEndpoint,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const last = await findLastAttempts(context.database, partner, [...new Set(ids)])
  const answers = new Map<string, string>()
  for (const id of ids) {
    const [first = ''] = (last.get(`${id} ${line.endpoint_id}`)?.answer ?? '').split(/[\r\n]+/)
    if (first !== '') answers.set(id, first.slice(0, ANSWER_CHARACTERS))
  }
  return answers
}

const ANSWER_CHARACTERS = 200

/** The states of an endpoint, worst first. */
export const STATES = ['disabled', 'failing', 'paused', 'ok'] as const

/** The state of an endpoint now. */
export function stateOf(line: EndpointLine, now: number): (typeof STATES)[number] {
  if (line.disabled_at !== null) return 'disabled'
  if (line.failing_since !== null) return 'failing'
  return line.paused_until !== null && line.paused_until > now ? 'paused' : 'ok'
}

/** The place of an endpoint in a list that begins with those in trouble. */
export function rankOf(line: EndpointLine, now: number): number {
  return STATES.indexOf(stateOf(line, now))
}

/** The state of an endpoint as a tag. */
export function stateTag(line: EndpointLine, now: number): Slot {
  const state = stateOf(line, now)
  return tag(state, state === 'ok' ? 'good' : state === 'paused' ? 'wait' : 'bad')
}

/** The health of an endpoint, such as `HTTP 422 since Nov 22, 2:02 PM`. */
export function healthInWords(line: EndpointLine, now: number, zone: Zone): Slot {
  const last = answerInWords(line.last_status, line.last_error)
  switch (stateOf(line, now)) {
    case 'disabled':
      return html`${WHY[line.disabled_reason ?? 'operator']}, ${when(line.disabled_at ?? now, zone)}`
    case 'failing':
      return html`${last} since ${when(line.failing_since ?? now, zone)}`
    case 'paused':
      return html`it asked to wait until ${when(line.paused_until ?? now, zone)}`
    case 'ok':
      return line.last_at === null ? '' : `some events fail: ${last}`
  }
}

const WHY = {
  operator: 'paused by an operator',
  gone: 'it answered 410',
  failing: 'it failed for 72 hours',
} as const

/** A number of deliveries, which are counted only up to a limit. */
export function countOf(count: number): string {
  return count >= MOST_COUNTED ? `${MOST_COUNTED} or more` : String(count)
}
