import { expect, test } from 'vitest'
import { type EventName, eventNames } from '../../contract/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { wholeLog } from '../whole-log.ts'
import { type Correcting, openCorrections } from './corrections.ts'
import { lives, newStagePartner, person } from './stage.ts'

const service = forAllTests(() => startTestService(lives))
const partner = forEachTest(() => newStagePartner(service))

const userid = 'u'
const start = '2026-10-20T12:00:00.000Z'
const nextDay = '2026-10-21T12:00:00.000Z'
const boundary = '2026-11-01T04:00:00.000Z'
function signed(name: string) {
  return [{ name, version: 'v1' }]
}

/** An event: its name, the offer in force, since when, the single benefit that it is about, and why. */
type Told = readonly [
  eventname: EventName,
  offer: string,
  updatedat: string,
  benefit?: string,
  reason?: string,
]
type Row = {
  readonly what: string
  /** The preparation; its events are ignored. */
  readonly given?: () => Promise<unknown>
  readonly when: () => Promise<unknown>
  readonly told: readonly Told[]
}
function onLow() {
  return partner.create(userid, { benefits: ['art'] })
}
function onMid() {
  return partner.create(userid, { offername: 'mid', benefits: ['art'] })
}
function downgrade() {
  return partner.client.changeOffer({ userid, offername: 'low' })
}
function swap(add: string[], remove: string[]) {
  return partner.client.swapBenefits({ userid, add, remove })
}
function cancel(effective: 'endofperiod' | 'immediate') {
  return partner.client.cancelUser({ userid, effective })
}
function enrol(name: string, consents: { name: string; version: string }[] = []) {
  return partner.client.enrolBenefit({ userid, name, consents })
}
/** As an operator does; fails when it is refused. */
async function correct(op: Correcting) {
  const place = { partnerId: partner.partnerId, zone: 'America/New_York' }
  expect(await openCorrections(service, place)(userid, op)).toEqual({})
}
function decline(name: string) {
  return partner.client.declineBenefit({ userid, name })
}
function toBoundary() {
  return partner.to(boundary)
}
function inTurn(...steps: (() => Promise<unknown>)[]) {
  return async () => {
    for (const step of steps) await step()
  }
}

const rows: readonly Row[] = [
  {
    what: 'each prefill, and a repeat under its key not',
    when: inTurn(
      () => partner.client.prefillUser({ userid }, { idempotencyKey: 'first' }),
      () => partner.client.prefillUser({ userid }, { idempotencyKey: 'second' }),
      () => partner.client.prefillUser({ userid }, { idempotencyKey: 'second' }).catch(() => {}),
    ),
    told: [
      ['enrollment_request_received', '', start],
      ['enrollment_request_received', '', start],
    ],
  },
  {
    what: 'a create tells nothing of single benefits, not even of one that waits',
    when: () => partner.create(userid, { benefits: ['art', 'eyes'] }),
    told: [
      ['enrollment_successful', 'low', start],
      ['offer_activiation_successful', 'low', start],
    ],
  },
  {
    what: 'a create for a later date, and its start',
    when: inTurn(() => partner.create(userid, { effectivedate: '2026-10-25' }), toBoundary),
    told: [
      ['enrollment_successful', '', start],
      ['offer_activiation_successful', 'low', '2026-10-25T04:00:00.000Z'],
    ],
  },
  {
    what: 'an upgrade now, with a fixed benefit that waits for a consent',
    given: inTurn(onMid, () => partner.to(nextDay)),
    when: () => partner.client.changeOffer({ userid, offername: 'top' }),
    told: [
      ['offer_upgrade_successful', 'top', nextDay],
      ['offer_activiation_successful', 'top', nextDay],
    ],
  },
  {
    what: 'a downgrade that is made, and comes into force',
    given: onMid,
    when: inTurn(downgrade, downgrade, toBoundary),
    told: [
      ['offer_change_scheduled', 'mid', start],
      ['offer_downgrade_successful', 'low', boundary],
      ['offer_activiation_successful', 'low', boundary],
    ],
  },
  {
    what: 'a pending change that is replaced, and one that is undone',
    given: inTurn(onMid, downgrade),
    when: inTurn(
      () => partner.client.changeOffer({ userid, offername: 'top', effective: 'nextperiod' }),
      () => partner.client.undoOfferChange({ userid }),
      () => partner.client.undoOfferChange({ userid }),
    ),
    told: [
      ['offer_change_cancelled', 'mid', start],
      ['offer_change_scheduled', 'mid', start],
      ['offer_change_cancelled', 'mid', start],
    ],
  },
  {
    what: 'a pending change that is called off at its boundary',
    given: inTurn(
      () => partner.create(userid, { benefits: ['art'] }),
      () => partner.client.changeOffer({ userid, offername: 'top', effective: 'nextperiod' }),
      () => partner.client.updateUser({ userid, state: 'NY' }),
    ),
    when: toBoundary,
    told: [['offer_change_cancelled', 'low', start]],
  },
  {
    what: 'a cancel that is made, repeated, and comes into effect',
    given: onLow,
    when: inTurn(
      () => cancel('endofperiod'),
      () => cancel('endofperiod'),
      toBoundary,
    ),
    told: [
      ['offer_cancel_scheduled', 'low', start],
      ['offer_cancel_successful', '', boundary],
    ],
  },
  {
    what: 'a cancel drops what is pending, and is brought forward',
    given: inTurn(onMid, downgrade, () => swap(['care'], ['art'])),
    when: inTurn(
      () => cancel('endofperiod'),
      () => partner.to(nextDay),
      () => cancel('immediate'),
      () => cancel('immediate'),
    ),
    told: [
      ['offer_change_cancelled', 'mid', start],
      ['user_benefits_swap_cancelled', 'mid', start],
      ['offer_cancel_scheduled', 'mid', start],
      ['offer_cancel_successful', '', nextDay],
    ],
  },
  {
    what: 'a cancel undone before it took effect',
    given: inTurn(
      onLow,
      () => cancel('endofperiod'),
      () => partner.to(nextDay),
    ),
    when: () => partner.client.reinstateUser({ userid }),
    told: [['offer_reinstate_successful', 'low', start]],
  },
  {
    what: 'a cancel undone after a gap',
    given: inTurn(
      onLow,
      () => cancel('immediate'),
      () => partner.to(nextDay),
    ),
    when: () => partner.client.reinstateUser({ userid }),
    told: [
      ['offer_reinstate_successful', 'low', nextDay],
      ['offer_activiation_successful', 'low', nextDay],
    ],
  },
  {
    what: 'an update',
    given: onLow,
    when: () => partner.client.updateUser({ userid, phone: '3055550199' }),
    told: [['user_update_successful', 'low', start]],
  },
  {
    what: 'an erase of an active user, once',
    given: inTurn(onLow, () => swap(['care'], ['art'])),
    when: inTurn(
      () => partner.client.eraseUser({ userid }),
      () => partner.client.eraseUser({ userid }),
      toBoundary,
    ),
    told: [
      ['user_benefits_swap_cancelled', 'low', start],
      ['offer_cancel_successful', '', start],
      ['user_erased', '', start],
    ],
  },
  {
    what: 'an erase of one who was only prefilled',
    given: () => partner.client.prefillUser({ userid }),
    when: () => partner.client.eraseUser({ userid }),
    told: [['user_erased', '', start]],
  },
  {
    what: 'an enrolment, and again what is held already',
    given: onLow,
    when: inTurn(
      () => enrol('books'),
      () => enrol('books'),
    ),
    told: [['benefit_enrollment_successful', 'low', start, 'books']],
  },
  {
    what: 'an enrolment that waits for its consent, and gets it',
    given: onLow,
    when: inTurn(
      () => enrol('eyes'),
      () => enrol('eyes'),
      () => enrol('eyes', signed('eyes')),
    ),
    told: [
      ['benefit_action_required', 'low', start, 'eyes'],
      ['benefit_enrollment_successful', 'low', start, 'eyes'],
    ],
  },
  {
    what: 'a benefit that the new data does not admit, at the end of the period',
    given: () => partner.create(userid, { benefits: ['art', 'dental'] }),
    when: inTurn(() => partner.client.updateUser({ userid, state: 'NY' }), toBoundary),
    told: [
      ['user_update_successful', 'low', start],
      ['benefit_enrollment_ended', 'low', start, 'dental'],
    ],
  },
  {
    what: 'a benefit that ends at an age',
    given: () => partner.create(userid, { benefits: ['grow'], dob: '1986-10-25' }),
    when: toBoundary,
    told: [['benefit_enrollment_ended', 'low', start, 'grow']],
  },
  {
    what: 'a benefit declined while it waits, one never held, and the same again',
    given: () => partner.create(userid, { benefits: ['eyes'] }),
    when: inTurn(
      () => decline('eyes'),
      () => decline('care'),
      () => decline('care'),
    ),
    told: [
      ['benefit_declined', 'low', start, 'eyes'],
      ['benefit_declined', 'low', start, 'care'],
    ],
  },
  {
    what: 'a benefit declined that a swap was to bring',
    given: inTurn(onLow, () => swap(['care'], ['art'])),
    when: inTurn(() => decline('care'), toBoundary),
    told: [
      ['benefit_declined', 'low', start, 'care'],
      ['user_benefits_swap_cancelled', 'low', start],
    ],
  },
  {
    what: 'an enrolment that an operator voids, and with it the swap that was to take it out',
    given: inTurn(onLow, () => swap(['care'], ['art'])),
    when: inTurn(() => correct({ op: 'void', b: 'art' }), toBoundary),
    told: [
      ['benefit_enrollment_corrected', 'low', start, 'art'],
      ['user_benefits_swap_cancelled', 'low', start],
    ],
  },
  {
    what: 'an end that an operator gives, moves, and that comes',
    given: onLow,
    when: inTurn(
      () => correct({ op: 'moveend', b: 'art', days: 3 }),
      () => correct({ op: 'moveend', b: 'art', days: 1 }),
      toBoundary,
    ),
    told: [
      ['benefit_enrollment_corrected', 'low', start, 'art'],
      ['benefit_enrollment_corrected', 'low', start, 'art'],
      ['benefit_enrollment_ended', 'low', start, 'art'],
    ],
  },
  {
    what: 'a benefit that waits too long for its consent',
    given: () => partner.create(userid, { benefits: ['eyes'] }),
    when: () => partner.to('2026-11-19T12:00'),
    told: [['benefit_declined', 'low', start, 'eyes', 'expired']],
  },
  {
    what: 'an enrolment before the start, and the start',
    given: () => partner.create(userid, { effectivedate: '2026-11-01' }),
    when: inTurn(() => enrol('books'), toBoundary),
    told: [
      ['benefit_enrollment_scheduled', '', start, 'books'],
      ['offer_activiation_successful', 'low', boundary],
      ['benefit_enrollment_successful', 'low', boundary, 'books'],
    ],
  },
  {
    what: 'an offer that the new data no longer fit',
    given: () => partner.create(userid, { offername: 'top' }),
    when: () => partner.client.updateUser({ userid, state: 'NY' }),
    told: [
      ['user_update_successful', 'top', start],
      ['offer_action_required', 'top', start],
    ],
  },
  {
    what: 'a swap that is made, replaced, repeated and takes effect',
    given: onLow,
    when: inTurn(
      () => swap(['care'], ['art']),
      () => swap(['books'], ['art']),
      () => swap(['books'], ['art']),
      toBoundary,
    ),
    told: [
      ['user_benefits_pendingswap', 'low', start],
      ['user_benefits_swap_cancelled', 'low', start],
      ['user_benefits_pendingswap', 'low', start],
      ['user_benefits_swap_successful', 'low', start],
    ],
  },
  {
    what: 'a swap that is undone, and again without one',
    given: inTurn(onLow, () => swap(['care'], ['art'])),
    when: inTurn(
      () => partner.client.undoSwap({ userid }),
      () => swap([], []),
      toBoundary,
    ),
    told: [['user_benefits_swap_cancelled', 'low', start]],
  },
  {
    what: 'a swap that an offer change leaves no room for',
    given: inTurn(onMid, () => swap(['care', 'books'], [])),
    when: downgrade,
    told: [
      ['offer_change_scheduled', 'mid', start],
      ['user_benefits_swap_cancelled', 'mid', start],
    ],
  },
  {
    what: 'a swap of which one pair fails',
    given: inTurn(
      () => partner.create(userid, { benefits: ['art', 'books'] }),
      () => swap(['eyes', 'care'], ['art', 'books']),
    ),
    when: toBoundary,
    told: [
      ['user_benefits_swap_successful', 'low', start],
      ['user_benefits_swap_failed', 'low', start],
    ],
  },
  {
    what: 'a swap that fails whole',
    given: inTurn(onLow, () => swap(['eyes'], ['art'])),
    when: toBoundary,
    told: [['user_benefits_swap_failed', 'low', start]],
  },
  {
    what: 'a prefill that lapses: nothing, as nothing changed that was promised',
    given: () => partner.client.prefillUser({ userid }),
    when: () => partner.to('2027-01-20T12:00'),
    told: [],
  },
]

/** The log as the partner reads it. */
async function readLog() {
  return (await wholeLog(partner.client)).events
}

const seen = new Set<string>()

test.each(rows)('$what', async ({ given, when, told }) => {
  await given?.()
  const before = await readLog()
  await when()
  // Reading again, or applying due changes again, raises nothing twice.
  await service.service().runDue()
  await partner.client.getUser({ userid }).catch(() => {})
  const events = (await readLog()).slice(before.length)
  const serviceid = await serviceidOf()
  expect(events.map(({ body, data }) => ({ body, data }))).toEqual(
    told.map(([eventname, offer, updatedat, name, reason]) => ({
      body: { userid, eventname, currentofferdetails: { offer, updatedat, serviceid } },
      data: { ...(name === undefined ? {} : { name }), ...(reason === undefined ? {} : { reason }) },
    })),
  )
  for (const { eventid, eventname } of events) {
    seen.add(eventname)
    expect(await partner.client.getEvent({ eventid })).toMatchObject({ eventid, eventname, userid })
  }
})

async function serviceidOf(): Promise<string | undefined> {
  const [row] = await service.database.query<{ service_id: string }>(
    sql`select service_id from users where partner_id = ${partner.partnerId}`,
  )
  return row?.service_id
}

test('a ping has names of its own, whatever the endpoint wants', async () => {
  const { webhookid } = await partner.client.createWebhook({
    url: 'http://127.0.0.1:9/',
    username: 'hook',
    password: 'hidden',
  })
  const { eventid } = await partner.client.testWebhook({ webhookid })
  expect(await readLog()).toMatchObject([
    {
      eventid,
      data: {},
      body: {
        userid: 'webhook-test',
        eventname: 'webhook_test',
        currentofferdetails: { offer: '', serviceid: '00000000-0000-0000-0000-000000000000' },
      },
    },
  ])
  seen.add('webhook_test')
})

test('every event of the contract was raised above, but those of an insurer’s answers, see tests/feeds, of family cover, see family.test.ts, and notices, see tests/webhooks/notices', () => {
  const missing = eventNames.filter(name => !seen.has(name))
  const notices = ['webhook_failing', 'webhook_disabled', 'webhook_recovered']
  expect(missing).toEqual([
    ...['benefit_insurer_accepted', 'benefit_insurer_refused', 'benefit_cover_changed'],
    ...notices,
  ])
})

test('no event holds personal data, and each body is exactly as documented', async () => {
  const stored = await service.database.query<{ body: Buffer; row: string }>(
    sql`select body, to_jsonb(events)::text as row from events`,
  )
  expect(stored.length).toBeGreaterThan(100)
  const { address, ...plain } = person
  const values = [...Object.values(plain), ...Object.values(address)].filter(value => value.length > 5)
  for (const { body, row } of stored) {
    const text = body.toString('utf8')
    const { userid: named, eventname, currentofferdetails } = JSON.parse(text)
    const { offer, updatedat, serviceid } = currentofferdetails
    expect(text).toBe(
      JSON.stringify({ userid: named, eventname, currentofferdetails: { offer, updatedat, serviceid } }),
    )
    for (const value of values) {
      expect(text).not.toContain(value)
      expect(row).not.toContain(value)
    }
  }
})
