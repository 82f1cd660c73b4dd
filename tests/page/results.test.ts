import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { demoCatalogue } from '../rig.ts'
import { startRig } from './rig.ts'
import { openLink, recordsAgreed } from './visitor.ts'

const rig = forAllTests(startRig)

test('of a consent its version is kept, and the hash of the text in the language in which the person read it', async () => {
  await rig.newPerson()
  const visitor = await openLink(rig)
  await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', { benefit: ['identity'] })
  await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.identity': '2026-01' })
  const catalogue = parse(demoCatalogue) as {
    benefits: { name: string; consent?: { text: { en: string } } }[]
  }
  const text = catalogue.benefits.find(({ name }) => name === 'identity')?.consent?.text.en ?? ''
  const rowsOf = await rig.running.database.query<{ version: string; locale: string; text_hash: Buffer }>(sql`
    select version, locale, text_hash from consents
    where partner_id = ${rig.partner.partnerId} and name = 'identity' order by agreed_at desc limit 1`)
  expect(rowsOf).toEqual([
    { version: '2026-01', locale: 'en', text_hash: createHash('sha256').update(text).digest() },
  ])
})
