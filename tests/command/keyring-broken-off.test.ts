import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readKeyringFile, replaceKeyringFile } from '../../service/src/vault/keyring.ts'
import { withCurrent, withNext } from '../../service/src/vault/keyring-file.ts'
import { newKey } from '../../service/src/vault/seal.ts'
import { createPartnerOf, startReceiver } from '../faults/receiver.ts'
import { forAllTests } from '../for-all-tests.ts'
import { wholeRunTest } from '../long.ts'
import { ada } from '../rig.ts'
import { openOwnJournal } from '../trust/journal.ts'
import { checkLedger } from '../trust/ledger.ts'
import { checkReadable } from '../trust/readable.ts'
import { clientsOf, idOf, type Key, openStage, refusal } from './keyring-stage.ts'
import type { Created } from './place.ts'
import { run, runJson, runKilledWhen } from './process.ts'

describe('a rotation that does not run to its end', () => {
  const stage = forAllTests(openStage)
  const receiver = forAllTests(startReceiver)
  const journal = openOwnJournal()
  let partner: Created
  beforeAll(async () => {
    partner = await createPartnerOf(receiver, stage.place)
  })

  let users = 0
  /** Both services read and write with old data and new data. */
  const bothWork = async () => {
    users += 1
    const userid = `user-${users}`
    const [a, b] = clientsOf(stage, partner)
    await journal.write(userid, 'prefill', () => a.prefillUser({ userid, ...ada }))
    await journal.write(userid, 'create', () => b.createUser({ userid, offername: 'starter' }))
    await a.getUser({ userid: 'user-1' })
    for (const one of clientsOf(stage, await stage.newPartner())) await one.prefillUser({ userid })
  }

  wholeRunTest(
    'because it was killed with the new keys added leaves keys that work, and the next goes on with them',
    async () => {
      await bothWork()
      const before = readKeyringFile(stage.dataDir)
      const isAdded = () => readKeyringFile(stage.dataDir).rootKeys.next !== undefined
      expect(await runKilledWhen(['keyring', 'rotate'], stage.place, isAdded)).toBe(true)
      const { rootKeys, peppers } = readKeyringFile(stage.dataDir)
      expect([rootKeys.current, peppers.current]).toEqual([before.rootKeys.current, before.peppers.current])
      expect(idOf(await stage.keys('root'), 'next')).toBe(rootKeys.next)
      expect(await refusal(stage, 'keyring', 'retire', rootKeys.next ?? '')).toMatch(
        /is about to become current/,
      )
      await bothWork()

      const { rotated } = await runJson<{ rotated: Key[] }>(['keyring', 'rotate'], stage.place)
      expect(rotated.map(key => key.id)).toEqual([rootKeys.next, peppers.next])
      expect(await stage.keys()).toHaveLength(4)
      await bothWork()
    },
  )

  wholeRunTest(
    'because it was killed before the re-wrap works too, and the key is not retired before a re-wrap',
    async () => {
      const file = readKeyringFile(stage.dataDir)
      const old = file.rootKeys.current
      const added = withNext(file.rootKeys, newKey())
      replaceKeyringFile(stage.dataDir, { ...file, rootKeys: added })
      await bothWork()
      const rootKeys = withCurrent(added, added.next ?? '', 1)
      if (!rootKeys) throw new Error('refused')
      replaceKeyringFile(stage.dataDir, { ...file, rootKeys })
      await bothWork()
      const partners = (await stage.keys('root')).find(key => key.id === old)?.inuse['partners'] ?? 0
      expect(partners).toBeGreaterThan(0)

      expect(await refusal(stage, 'keyring', 'retire', old)).toMatch(
        /^The root key \S+ is in use \(\d+ partners, 1 mark of the database\): run `enrolment keyring rewrap`/,
      )
      expect(await runJson(['keyring', 'rewrap'], stage.place)).toEqual({
        current: rootKeys.current,
        rewrapped: partners,
      })
      expect(await runJson(['keyring', 'rewrap'], stage.place)).toMatchObject({ rewrapped: 0 })
      expect(await runJson(['keyring', 'retire', old], stage.place)).toEqual({
        id: old,
        kind: 'root',
        retired: true,
      })
      await bothWork()
      await stage.restart()
      await bothWork()
    },
  )

  test('because the file cannot be written says so and changes nothing', async () => {
    const path = join(stage.dataDir, 'keyring.json')
    const before = await readFile(path, 'utf8')
    // A directory in the place of the draft stops every user from writing, even root.
    await mkdir(`${path}.new`)
    for (const words of [['rotate'], ['rotate', 'pepper']])
      expect(await refusal(stage, 'keyring', ...words)).toMatch(
        /^The file .*keyring\.json cannot be written \(E\w+\): check the path and its permissions\.$/,
      )
    await rm(`${path}.new`, { recursive: true })
    expect(await readFile(path, 'utf8')).toBe(before)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  wholeRunTest('beside another at the same time ends well as that one does, and no key is lost', async () => {
    const before = readKeyringFile(stage.dataDir)
    const both = await Promise.all([1, 2].map(() => run(['keyring', 'rotate', 'root'], stage.place)))
    expect(both.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ])
    const after = readKeyringFile(stage.dataDir)
    expect(after.rootKeys.next).toBeUndefined()
    for (const { id } of before.rootKeys.keys) expect(after.rootKeys.keys.map(key => key.id)).toContain(id)
    expect(after.peppers).toEqual(before.peppers)
    for (const key of await stage.keys('root'))
      expect(key.inuse['partners'] === 0).toBe(key.id !== after.rootKeys.current)
    await bothWork()
  })

  wholeRunTest('leaves books that agree, and everything that is sealed can be opened', async () => {
    const { database, place } = stage
    const logs = stage.written()
    await checkLedger({ journal, receiver, database, partnerId: partner.partnerid, logs })
    await checkReadable(clientsOf(stage, partner)[0], { place, partner, entries: journal.entries })
  })

  test('or is asked for in other words is refused', async () => {
    const { peppers } = readKeyringFile(stage.dataDir)
    expect(await refusal(stage, 'keyring', 'retire', 'feedfeedfeedfeed')).toMatch(
      /^There is no key feedfeedfeedfeed in the keyring: see `enrolment keyring show`\.$/,
    )
    expect(await refusal(stage, 'keyring', 'retire', peppers.current)).toMatch(
      /is the current one: run `enrolment keyring rotate pepper` first\.$/,
    )
    expect(await run(['keyring', 'rotate', 'salt'], stage.place)).toMatchObject({ code: 2, stdout: '' })
    expect((await run(['keyring', 'retire', '--help'])).stdout).toMatch(
      /^enrolment keyring retire KEYID \[options\]\n/,
    )
  })
})
