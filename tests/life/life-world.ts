import { DateTime } from 'luxon'
import { expect } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import type { TestService } from '../rig.ts'
import { monthAfter } from './catalogue-rules.ts'
import { compareTiles } from './compare-tiles.ts'
import { openCorrections } from './corrections.ts'
import type { Command, Op, Step } from './life-commands.ts'
import { expectMonthsToAddUp } from './months-add-up.ts'
import { held, type Life, look, never, newLife, pass } from './reference-model.ts'
import { act } from './reference-requests.ts'
import { newStagePartner, person, type StagePartner } from './stage.ts'

/** Two partners whose users live in the service and in the reference model at once. */
export type World = {
  /** Takes one step in both and compares everything that can be seen of the users concerned. */
  readonly step: (one: Command) => Promise<void>
  /** The transitions that the service has recorded. */
  readonly moves: () => Promise<string[]>
  /** Expects that all months of both partners add up; returns how many adjustments there are. */
  readonly months: () => Promise<number>
}

type UserName = Command['user']
type Place = {
  readonly zone: string
  readonly real: () => number
  readonly partner: StagePartner
  readonly lives: Record<UserName, Life>
  readonly serviceids: Map<string, string>
  readonly correct: ReturnType<typeof openCorrections>
  readonly count: (name: string) => void
  /** How far its clock is ahead. */
  offset: number
  /** Whether a change may be due that nobody has applied yet. */
  isLate: boolean
}

/**
 * Opens a world of two partners with the same userids; `count` is called for every command done, refusal met and event
 * raised.
 */
export async function openWorld(
  service: TestService,
  zones: readonly string[],
  count: (name: string) => void,
): Promise<World> {
  const places: Place[] = await Promise.all(
    zones.map(async zone => {
      const partner = await newStagePartner(service, zone)
      return {
        zone,
        real: service.now,
        partner,
        lives: { u1: newLife(zone), u2: newLife(zone) },
        serviceids: new Map(),
        correct: openCorrections(service, { partnerId: partner.partnerId, zone }),
        count,
        offset: 0,
        isLate: false,
      }
    }),
  )
  return {
    async step(one) {
      // Less than the lifetime of the service's memory, so the service answers from memory here too.
      service.advance(100)
      const place = places[one.partner]
      if (!place) throw new Error('no such partner')
      if (one.op === 'restart') await service.restart()
      else if (one.op === 'clock') await moveClock(place, one)
      else count((await askBoth(place, one)) ?? one.op)
      if (one.op === 'restart' || one.op === 'clock') count(one.op)
    },
    async moves() {
      const rows = await service.database.query<{ name: string }>(sql`
        select distinct case line ->> 'what' when 'user' then 'user ' else '' end
          || coalesce(line ->> 'from', 'new') || '>' || (line ->> 'to') as name
        from history cross join lateral jsonb_array_elements(lines) as line
        where line ->> 'what' in ('user', 'benefit')
          and partner_id = any(${places.map(({ partner }) => partner.partnerId)}::uuid[])`)
      return rows.map(row => row.name)
    },
    async months() {
      let adjustments = 0
      for (const { partner } of places) adjustments += await expectMonthsToAddUp(service, partner.partnerId)
      return adjustments
    },
  }
}

function nowAt(place: Place): number {
  return place.real() + place.offset
}

async function moveClock(place: Place, clock: Command & { op: 'clock' }): Promise<void> {
  const to = target(clock, place, nowAt(place))
  place.offset = to - place.real()
  const timestamp = new Date(to).toISOString()
  if (clock.late) await place.partner.lateTo(timestamp)
  else await place.partner.to(timestamp)
  place.isLate = clock.late
  for (const user of ['u1', 'u2'] as const) await compare(place, user, clock)
}

function target(clock: Step & { op: 'clock' }, place: Place, now: number): number {
  const hour = 3_600_000
  if (clock.to === 'hours') return now + clock.n * hour
  if (clock.to === 'days') return now + clock.n * 24 * hour
  const boundary = monthAfter(now, place.zone)
  if (clock.to === 'before') return Math.max(now, boundary - clock.n * hour)
  return boundary + (clock.n % 2 === 0 ? 0 : clock.n * 60_000)
}

/** Asks the model and the service; returns the code of a refusal. */
async function askBoth(
  place: Place,
  one: Exclude<Command, { op: 'clock' | 'restart' }>,
): Promise<string | undefined> {
  const life = place.lives[one.user]
  const now = nowAt(place)
  pass(life, now)
  const op = operationOf(life, one)
  const answer = act(life, op, now)
  const expected = Object.entries(answer).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.sort() : value,
  ])
  expect(await ask(place, one.user, op), JSON.stringify(one)).toEqual(Object.fromEntries(expected))
  if (place.isLate) {
    await compare(place, one.user, one)
    await place.partner.to(new Date(nowAt(place)).toISOString())
    place.isLate = false
  }
  await compare(place, one.user, one)
  return answer.refused
}

/** The operation with the benefits that its places name; a place past the end names none. */
function operationOf(life: Life, one: Exclude<Command, { op: 'clock' | 'restart' }>): Op {
  if (one.op === 'swap') return { ...one, remove: one.remove.flatMap(nth => pickAt(life, nth)) }
  if ('place' in one) return { ...one, b: held(life)[one.place]?.b ?? 'nothing' }
  return one
}

function pickAt(life: Life, nth: number): string[] {
  return life.windows
    .filter(one => one.to === never && !one.fixed)
    .slice(nth, nth + 1)
    .map(one => one.b)
}

async function compare(place: Place, user: UserName, after: Command): Promise<void> {
  const { partner, lives, serviceids } = place
  const life = lives[user]
  const now = nowAt(place)
  pass(life, now)
  const context = JSON.stringify(after)
  const { serviceid, ...seen } = await see(partner, user, now)
  expect(seen, context).toEqual(shown(life, now))
  await compareTiles(partner, user, { life, now, context })
  if (place.isLate) return
  const events = await partner.events(user)
  expect(events, context).toEqual(life.events.splice(0))
  for (const { eventname, reason } of events)
    place.count(`event ${eventname}${reason === undefined ? '' : ` ${reason}`}`)
  if (serviceid === undefined) return
  // The same name from birth to erasure.
  const name = `${user} ${life.births}`
  expect(serviceid).toBe(serviceids.get(name) ?? serviceid)
  serviceids.set(name, serviceid)
}

/** What can be seen according to the model, in the form of the API. */
function shown(life: Life, now: number): object {
  if (life.status === 'none') return { status: 'user_not_found' }
  if (life.status === 'erased') return { status: 'erased' }
  const { status, offer, since, next, first, benefits, actions, ahead, ...is } = look(life, now)
  const conditions = [
    ...(next ? ['offerchangepending'] : []),
    ...(is.isSwapping ? ['swappending'] : []),
    ...(is.isLeaving ? ['cancelpending'] : []),
    ...(benefits.some(one => one.state === 'actionrequired') ? ['actionrequired'] : []),
    ...(is.isUnfit ? ['offerineligible'] : []),
  ]
  const pending = next ?? first
  return {
    status,
    conditions,
    offer,
    ...(since === undefined ? {} : { since: stampOf(since) }),
    pending: pending ? { offer: pending.offer, effectiveattimestamp: stampOf(pending.at) } : null,
    actions: actions.map(one => `${one.b} ${stampOf(one.due)}`).sort(),
    ahead: ahead.map(one => `${stampOf(one.t)} benefit ${one.b} ${one.to}`).sort(),
    benefits: benefits.map(one => [one.b, one.state, stampOf(one.from), stampOf(one.to)].join(' ')).sort(),
  }
}

function stampOf(t: number): string | null {
  return t === never ? null : new Date(t).toISOString()
}

const live = new Set(['actionrequired', 'scheduled', 'enrolled', 'endscheduled'])

async function see(partner: StagePartner, userid: string, now: number) {
  const asked = { userid, include: ['timeline' as const] }
  const user = await partner.client.getUser(asked).catch((error: { code: string }) => error.code)
  if (typeof user === 'string') return { status: user }
  const { status, serviceid } = user
  if (user.status === 'erased') return { status, serviceid }
  const { offer, updatedat } = user.currentofferdetails
  return {
    serviceid,
    status,
    conditions: user.conditions,
    offer,
    ...(offer || user.status === 'cancelled' ? { since: updatedat } : {}),
    pending: user.pendingoffer,
    actions: user.requiredactions.map(one => `${one.name} ${one.dueattimestamp}`).sort(),
    ahead: (user.timeline ?? [])
      .filter(line => Date.parse(line.attimestamp) > now && line.what.startsWith('benefit '))
      .map(line => `${line.attimestamp} ${line.what} ${line.to}`)
      .sort(),
    benefits: user.benefits
      .filter(benefit => live.has(benefit.state))
      .map(one => [one.name, one.state, one.startsattimestamp, one.endsattimestamp].join(' '))
      .sort(),
  }
}

/** Asks the service, and returns the parts of the answer that the model also gives. */
function ask(place: Place, userid: string, op: Op): Promise<unknown> {
  return call(place, userid, op).catch(({ code, message }: { code?: string; message: string }) => ({
    refused: code ?? message,
  }))
}

async function call(place: Place, userid: string, op: Op): Promise<object> {
  const { client } = place.partner
  if (op.op === 'void' || op.op === 'movestart' || op.op === 'moveend') return place.correct(userid, op)
  if (op.op === 'prefill') await client.prefillUser({ userid, firstname: 'Ada' })
  if (op.op === 'create') {
    const { state, dob, offer: offername, picks: benefits, days } = op
    const date = DateTime.fromMillis(nowAt(place), { zone: place.zone }).plus({ days }).toISODate() ?? ''
    const when = days === 0 ? {} : { effectivedate: date }
    const who = { ...person, state: state as 'FL', dob }
    await client.createUser({ userid, ...who, offername, benefits, consents: signed(op.agreed), ...when })
  }
  if (op.op === 'update') {
    const { state, dob } = op
    await client.updateUser({ userid, ...(state ? { state: state as 'FL' } : {}), ...(dob ? { dob } : {}) })
  }
  if (op.op === 'cancel') await client.cancelUser({ userid, effective: op.effective })
  if (op.op === 'reinstate') {
    const { notrestored } = await client.reinstateUser({ userid })
    return { notrestored: notrestored.map(one => one.name).sort() }
  }
  if (op.op === 'erase') await client.eraseUser({ userid })
  if (op.op === 'offer') return changeOffer(client, userid, op)
  if (op.op === 'undooffer') await client.undoOfferChange({ userid })
  if (op.op === 'swap') await client.swapBenefits({ userid, add: op.add, remove: op.remove })
  if (op.op === 'undoswap') await client.undoSwap({ userid })
  if (op.op === 'enrol')
    await client.enrolBenefit({ userid, name: op.b, consents: signed(op.agreed ? [op.b] : []) })
  if (op.op === 'decline') await client.declineBenefit({ userid, name: op.b })
  return {}
}

function signed(agreed: readonly string[]) {
  return agreed.map(name => ({ name, version: 'v1' }))
}

/** A preview shows what the change then does. */
async function changeOffer(client: StagePartner['client'], userid: string, op: Op & { op: 'offer' }) {
  const wish = { userid, offername: op.offer, effective: op.effective }
  const preview = await client.previewOfferChange(wish)
  const change = await client.changeOffer({ ...wish, previewid: preview.previewid })
  const { previewid, expiresat, ...promised } = preview
  expect(change).toEqual({ ...promised, currentofferdetails: change.currentofferdetails })
  if (change.direction === 'none') return {}
  return { gained: change.gained.sort(), lost: change.lost.sort(), kept: change.kept.sort() }
}
