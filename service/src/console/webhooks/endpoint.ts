import type { Partner } from '../../partners/partner.ts'
import { isUuid } from '../../vault/uuid.ts'
import { findLastAttempts } from '../../webhooks/log/attempts.ts'
import { ownPartner } from '../partners.ts'
import { record } from '../screen/record.ts'
import { notHere, type OperatorVisit } from '../screen/screen.ts'
import { type EndpointLine, findEndpointLines } from './store.ts'

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
  if (!visit.isSupport) return new Map()
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
