// @nightly

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { readKeyringFile, replaceKeyringFile } from '../../service/src/vault/keyring.ts'
import { withoutOld } from '../../service/src/vault/keyring-file.ts'
import { wholeRunTest } from '../long.ts'
import { ada } from '../rig.ts'
import { checkLogs, checkTables } from '../trust/canaries.ts'
import { type OwnJournal, openOwnJournal } from '../trust/journal.ts'
import { checkUsers } from '../trust/ledger.ts'
import { clientsOf, idOf, openStage, refusal, type Shown, type Stage } from './keyring-stage.ts'
import { type Created, codeOf } from './place.ts'
import { runJson } from './process.ts'

/** Compares the users with what was sent; nobody listens for events here. */
async function checkTheBooks(stage: Stage, partner: Created, journal: OwnJournal): Promise<void> {
  await checkUsers({ journal, database: stage.database, partnerId: partner.partnerid })
  checkLogs(stage.written())
  await checkTables(stage.database)
}

wholeRunTest('what is hashed under a pepper that is gone opens nothing more, on either process', async () => {
  const stage = await openStage()
  onTestFinished(() => stage.close())
  const partner = await stage.newPartner()
  const clients = clientsOf(stage, partner)
  const journal = openOwnJournal()
  for (const one of clients)
    await journal.write('u1', 'prefill', () => one.prefillUser({ userid: 'u1', ...ada }))
  await runJson(['keyring', 'rotate', 'pepper'], stage.place)
  for (const one of clients) await one.getUser({ userid: 'u1' })
  const file = readKeyringFile(stage.dataDir)
  const peppers = withoutOld(file.peppers, idOf(await stage.keys('pepper'), 'old'))
  if (!peppers) throw new Error('refused')
  // No command removes this key: the tokens of both clients depend on it, and so does a secret that was not used since.
  replaceKeyringFile(stage.dataDir, { ...file, peppers })
  for (const one of clients)
    await expect.poll(() => codeOf(one.getUser({ userid: 'u1' }))).toBe('invalid_client')
  await checkTheBooks(stage, partner, journal)
})

wholeRunTest(
  'a keyring that cannot be read any more stops no running process, and the log says so',
  async () => {
    const stage = await openStage()
    onTestFinished(() => stage.close())
    const partner = await stage.newPartner()
    const path = join(stage.dataDir, 'keyring.json')
    const good = await readFile(path)
    await writeFile(path, '{')
    const journal = openOwnJournal()
    const prefill = () =>
      journal.write('u1', 'prefill', () => clientsOf(stage, partner)[0].prefillUser({ userid: 'u1', ...ada }))
    await expect
      .poll(async () => {
        await prefill()
        return stage.services[0]?.log().filter(line => line.event === 'keyring_unreadable').length
      })
      .toBe(1)
    await prefill()
    await writeFile(path, good)
    await runJson(['keyring', 'rotate'], stage.place)
    for (const one of clientsOf(stage, partner)) await one.getUser({ userid: 'u1' })
    await checkTheBooks(stage, partner, journal)
  },
)

wholeRunTest('with ENROLMENT_ROOT_KEY the keys rotate by its list: behind, in front, alone', async () => {
  const [older, newer] = [1, 2].map(() => randomBytes(32).toString('base64'))
  const stage = await openStage({ ENROLMENT_ROOT_KEY: `${older}` })
  onTestFinished(() => stage.close())
  const partner = await stage.newPartner()
  const journal = openOwnJournal()
  await journal.write('u1', 'prefill', () =>
    clientsOf(stage, partner)[0].prefillUser({ userid: 'u1', ...ada }, { idempotencyKey: 'k1' }),
  )
  const oldIds = (await stage.keys()).map(key => key.id)
  const works = async () => {
    for (const one of clientsOf(stage, partner)) {
      expect(await codeOf(one.prefillUser({ userid: 'u1', ...ada }, { idempotencyKey: 'k1' }))).toBe(
        'user_exists replayed',
      )
      expect(await one.getUser({ userid: 'u1' })).toMatchObject({ status: 'prefilled' })
    }
  }

  await stage.restart({ ENROLMENT_ROOT_KEY: `${older},${newer}` })
  await works()
  await stage.restart({ ENROLMENT_ROOT_KEY: `${newer},${older}` })
  await works()
  expect(await refusal(stage, 'keyring', 'rotate')).toMatch(
    /^The keys come from ENROLMENT_ROOT_KEY, and no command can change that: put a new key behind it/,
  )
  expect(await refusal(stage, 'keyring', 'retire', oldIds[0] ?? '')).toMatch(
    /^The keys come from ENROLMENT_ROOT_KEY/,
  )
  const only = { ...stage.place, env: { ...stage.place.env, ENROLMENT_ROOT_KEY: `${newer}` } }
  expect(await runJson(['keyring', 'rewrap'], stage.place)).toMatchObject({ rewrapped: 1 })
  const shown = await runJson<Shown>(['keyring', 'show'], only)
  expect(shown.source).toBe('environment')
  // Reported for the old pepper while it is not among the keys: the data that would be lost without it.
  expect(shown.keys.filter(key => key.state === 'missing').map(key => key.kind)).toEqual(['pepper'])
  const { live, secret } = await runJson<{ live: string[]; secret: string }>(
    ['key', 'rotate', partner.partnerid],
    stage.place,
  )
  await runJson(['key', 'revoke', partner.partnerid, live[0] ?? ''], stage.place)
  partner.clientsecret = secret
  const others = (await stage.keys()).filter(key => oldIds.includes(key.id))
  expect(new Set(others.flatMap(key => Object.values(key.inuse)))).toEqual(new Set([0]))

  await stage.restart({ ENROLMENT_ROOT_KEY: `${newer}` })
  await works()
  for (const key of [older, newer]) expect(stage.written()).not.toContain(key)
  await checkTheBooks(stage, partner, journal)
})
