import { describe, expect, test } from 'vitest'
import { writePolicy } from '../../service/src/console/requests/store.ts'
import { tidyConsole } from '../../service/src/console/tidy.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { holdTable, waitForLock } from '../hold-users.ts'
import { ada, startTestService } from '../rig.ts'
import { type OperatorBrowser, type Shown, signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
const asker = forAllTests(() => signIn(service, 'support'))
const other = forAllTests(() => signIn(service, 'support'))

let people = 0
/** A member with telehealth, and the value that selects that enrolment in a form. */
async function newUser() {
  people += 1
  const userid = `corrected-${people}`
  const { serviceid } = await partner.client.createUser({
    ...ada,
    userid,
    offername: 'plus',
    benefits: ['telehealth'],
  })
  const [row] = await service.database.query<{ enrolment_id: string }>(sql`
    select enrolment_id from enrolments where service_id = ${serviceid} and benefit = 'telehealth'`)
  const wish = { enrolment: row?.enrolment_id ?? '' }
  const events = async () =>
    (await partner.client.listEvents({ userid })).events.map(({ eventname }) => eventname)
  const telehealth = async () => {
    const user = await partner.client.getUser({ userid })
    return user.status === 'erased' ? undefined : user.benefits.find(({ name }) => name === 'telehealth')
  }
  const look = async (by: OperatorBrowser): Promise<() => Promise<Shown>> => {
    const preview = await by.post(`/users/${serviceid}/act/void`, wish)
    const seen = /name="seen" value="([^"]+)"/.exec(preview.text)?.[1] ?? ''
    return () =>
      by.post(`/users/${serviceid}/act/void`, {
        ...wish,
        sure: 'yes',
        seen,
        reason: 'ticket 4711: never wanted it',
      })
  }
  const ask = async (by: OperatorBrowser): Promise<Shown> => (await look(by))()
  return { userid, serviceid, wish, events, telehealth, look, ask }
}

async function entries(serviceId: string) {
  return service.database.query<{ action: string; result: string; actor: string }>(sql`
    select action, result, actor from audit_log
    where service_id = ${serviceId} and action not like 'look%' and actor_kind = 'operator' order by entry_id`)
}

describe('what needs a second person', () => {
  test.each([
    ['the same email', { email: 'grace@example.com', subject: undefined }],
    ['the same subject at the identity provider', { email: undefined, subject: 'person-1' }],
  ])('is not decided by another account of who asked for it, known by %s', async (_, { email, subject }) => {
    const { telehealth, ask, serviceid } = await newUser()
    const { path } = await ask(asker)
    const twin = await signIn(service, 'admin')
    const [first, ...others] = [asker, twin].map(({ operatorId }) => operatorId)
    // An identity provider that has moved is another issuer with the same subjects.
    const make = (operatorId: string | undefined, issuer: string) =>
      service.database.query(sql`
        update operators set email = ${email ?? null}, subject = ${subject ?? null},
          issuer = ${subject === undefined ? null : issuer} where operator_id = ${operatorId}`)
    await make(first, 'https://login.example.com')
    await make(others[0], 'https://login.example.org')
    const shown = await twin.get(path)
    expect(shown.text).toContain('another account of yours')
    expect(shown.text).not.toContain('/confirm"')
    for (const decision of ['confirm', 'refuse']) {
      const refused = await twin.post(`${path}/${decision}`, { reason: 'it is me' })
      expect([decision, refused.status]).toEqual([decision, 403])
      expect(refused.text).toContain('another account of yours')
    }
    expect((await telehealth())?.state).toBe('enrolled')
    expect(await entries(serviceid)).toContainEqual({
      action: 'decide void',
      result: 'refused',
      actor: twin.operatorId,
    })
    await service.database.query(sql`update operators set email = null, subject = null, issuer = null`)
    expect((await twin.post(`${path}/confirm`, { reason: 'it is not' })).status).toBe(200)
    expect(await telehealth()).toBeUndefined()
  })

  test('can be withdrawn by who asked, and lapses after a week', async () => {
    const one = await newUser()
    const { path } = await one.ask(asker)
    expect((await asker.post(`${path}/withdraw`)).path).toBe('/requests')
    expect((await other.post(`${path}/confirm`, { reason: 'too late' })).status).toBe(409)
    const late = await one.ask(asker)
    await service.database.query(sql`
      update operator_requests set expires_at = asked_at where request_id = ${late.path.split('/')[2]}`)
    expect((await other.post(`${late.path}/confirm`, { reason: 'too late' })).status).toBe(409)
    await tidyConsole(service.database, service.now())
    expect((await other.get(late.path)).text).toContain('>lapsed<')
    expect(await one.events()).not.toContain('benefit_enrollment_corrected')
  })

  test.each([
    ['before it is stored', 'installation'],
    ['before it is committed', 'audit_log'],
  ])('leaves nothing of what was asked when the user is erased %s', async (_, table) => {
    const { userid, serviceid, look } = await newUser()
    const askNow = await look(asker)
    const lock = await holdTable(service, table)
    const asking = askNow()
    await waitingFor('relation')
    const erasing = partner.client.eraseUser({ userid })
    await waitForLock(service, erasing)
    await lock.release()
    await Promise.all([asking, erasing])
    const rows = await service.database.query<{ bytes: number }>(sql`
      select length(sealed) as bytes from operator_requests where service_id = ${serviceid} and sealed <> ''`)
    expect(rows).toEqual([])
    expect((await partner.client.getUser({ userid })).status).toBe('erased')
  })

  test('lapses with the erasure of its user, and nothing of what was asked is left', async () => {
    const { userid, serviceid, ask } = await newUser()
    const { path } = await ask(asker)
    await partner.client.eraseUser({ userid })
    const rows = await service.database.query<{ outcome: string; bytes: number }>(sql`
      select outcome, length(sealed) as bytes from operator_requests where service_id = ${serviceid}`)
    expect(rows).toEqual([{ outcome: 'lapsed', bytes: 0 }])
    const shown = await other.get(path)
    expect(shown.text).toContain('>lapsed<')
    expect(shown.text).not.toContain('ticket 4711')
    expect((await other.post(`${path}/confirm`, { reason: 'too late' })).status).toBe(409)
  })

  test('is done once where two confirm it at the same time', async () => {
    const { ask, events } = await newUser()
    const third = await signIn(service, 'admin')
    const { path } = await ask(asker)
    const answers = await Promise.all(
      [other, third].map(by => by.post(`${path}/confirm`, { reason: 'read the ticket' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await events()).filter(name => name === 'benefit_enrollment_corrected')).toHaveLength(1)
  })

  test('that the policy leaves to one person is done at once, with its entry in the same transaction', async () => {
    const { serviceid, wish, events } = await newUser()
    await writePolicy(service.database, 'move', false)
    const path = `/users/${serviceid}/act/move`
    const form = { ...wish, lastday: tomorrow() }
    const preview = await asker.post(path, form)
    expect(preview.text).toContain('<code>benefit_enrollment_corrected</code>')
    const seen = /name="seen" value="([^"]+)"/.exec(preview.text)?.[1] ?? ''
    const done = await asker.post(path, { ...form, sure: 'yes', seen, reason: 'wrong date' })
    expect(done.path).toBe(`/users/${serviceid}`)
    expect(await events()).toContain('benefit_enrollment_corrected')
    expect(await entries(serviceid)).toEqual([
      { action: 'move user', result: 'done', actor: asker.operatorId },
    ])
    const rows = await service.database.query<{
      state: string
      close_reason: string | null
      is_new: boolean
    }>(sql`
      select state, close_reason, corrects is not null as is_new from enrolments
      where service_id = ${serviceid} and benefit = 'telehealth' order by enrolment_id`)
    expect(rows).toEqual([
      { state: 'void', close_reason: 'corrected', is_new: false },
      { state: 'endscheduled', close_reason: null, is_new: true },
    ])
    await writePolicy(service.database, 'move', true)
  })
})

/** Resolves once a session on the database waits for a lock of this kind. */
async function waitingFor(kind: string): Promise<void> {
  for (;;) {
    const [session] = await service.database.query(sql`
      select from pg_stat_activity where datname = current_database() and wait_event = ${kind}`)
    if (session) return
  }
}

function tomorrow(): string {
  return new Date(service.now() + 2 * 86_400_000).toISOString().slice(0, 10)
}
