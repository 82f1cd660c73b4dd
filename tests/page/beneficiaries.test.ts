import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startRig } from './rig.ts'
import { openLink, recordsAgreed } from './visitor.ts'
import { catalogues, forms } from './walks/given.ts'

const rig = forAllTests(() => startRig({ catalogue: catalogues['life'] ?? '' }))

/** Somebody who has just enrolled on the plan whose life benefit requires beneficiaries, and is asked for them. */
async function naming() {
  await rig.newPerson()
  const visitor = await openLink(rig)
  await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', { benefit: ['income'] })
  return { visitor, asked: await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.life': '1' }) }
}

test('whom somebody names is sealed, and no log or history has it; the host is told of the enrollment once', async () => {
  const { visitor, asked } = await naming()
  expect(asked).toMatchObject({ path: '/register/beneficiaries/life?then=done' })
  expect(asked.html).toContain('data-outcome="enrolled"')
  const named = { ...forms['heir'], 'person1.name': 'Gracecanary' }
  const done = await visitor.post('/register/beneficiaries/life', named)
  expect(done.view).toBe('DONE')
  expect(done.html).not.toContain('data-outcome')
  const [row] = await rig.running.database.query<{ sealed: Buffer }>(sql`
    select d.sealed from sealed_records d join users u using (partner_id, service_id)
    where d.kind = 'beneficiaries' and u.userid = ${rig.userid()}`)
  expect(row?.sealed.toString('latin1')).not.toContain('canary')
  const user = await rig.partner.client.getUser({ userid: rig.userid(), include: ['timeline'] })
  expect('timeline' in user && user.timeline).toContainEqual(
    expect.objectContaining({ what: 'beneficiaries life 1', to: 'confirmed', who: 'user' }),
  )
  expect(JSON.stringify([user, rig.running.logged])).not.toContain('canary')
})

test('nobody is asked to add a person whom there is no room for', async () => {
  const { visitor } = await naming()
  const last = await visitor.post('/register/beneficiaries/life', { ...forms['heir'], rows: '19', add: '1' })
  expect(last.html).toContain('name="person20.name"')
  expect(last.html).not.toContain('name="add"')
})
