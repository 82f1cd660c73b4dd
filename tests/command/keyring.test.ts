import { beforeAll, describe, expect, test } from 'vitest'
import { readKeyringFile } from '../../service/src/vault/keyring.ts'
import { createPartnerOf, startReceiver } from '../faults/receiver.ts'
import { forAllTests } from '../for-all-tests.ts'
import { wholeRunTest } from '../long.ts'
import { ada } from '../rig.ts'
import { openOwnJournal } from '../trust/journal.ts'
import { checkLedger } from '../trust/ledger.ts'
import { clientsOf, idOf, openStage, refusal } from './keyring-stage.ts'
import { type Created, codeOf } from './place.ts'
import { run, runJson } from './process.ts'

describe('a rotation of both under load, on two processes', () => {
  let partner: Created
  let linkId = ''
  const outputs: string[] = []
  const stage = forAllTests(openStage)
  const receiver = forAllTests(startReceiver)
  const journal = openOwnJournal()
  beforeAll(async () => {
    partner = await createPartnerOf(receiver, stage.place)
  })

  /** One user's life, with every keyed write sent to both processes, at once or one after the other. */
  const liveOnce = async (round: number) => {
    const userid = `user-${round}`
    // New clients, so that each round also fetches tokens.
    const [a, b] = clientsOf(stage, partner)
    const key = (verb: string) => ({ idempotencyKey: `${verb}-${round}` })
    const prefills = await Promise.all(
      [a, b].map(one => codeOf(one.prefillUser({ userid, ...ada }, key('prefill')))),
    )
    expect(prefills.toSorted()).toEqual(['', 'user_exists replayed'])
    journal.note(userid, 'prefill')
    const created = await journal.write(userid, 'create', () =>
      a.createUser({ userid, offername: 'plus' }, key('create')),
    )
    expect(await b.createUser({ userid, offername: 'plus' }, key('create'))).toEqual(created)
    const cancelled = await Promise.all([a, b].map(one => one.cancelUser({ userid }, key('cancel'))))
    expect(cancelled[1]).toEqual(cancelled[0])
    journal.note(userid, 'cancel')
    expect(await codeOf(b.prefillUser({ userid, ...ada }, key('prefill')))).toBe('user_exists replayed')
  }

  test('fails no request, and a keyed write has one effect whichever process it meets', async () => {
    let isOver = false
    let rounds = 0
    const failures: unknown[] = []
    const worker = async () => {
      while (!isOver) {
        rounds += 1
        await liveOnce(rounds).catch(error => failures.push(error))
      }
    }
    const workers = [worker(), worker(), worker()]
    const atFirst = await stage.keys()
    const { code, stdout, stderr } = await run(['keyring', 'rotate'], stage.place)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    outputs.push(stdout)
    const afterwards = rounds + 20
    await expect.poll(() => rounds).toBeGreaterThan(afterwards)
    isOver = true
    await Promise.all(workers)
    expect(failures).toEqual([])

    const { database } = stage
    const logs = stage.written()
    await checkLedger({ journal, receiver, database, partnerId: partner.partnerid, logs })
    for (const kind of ['root', 'pepper'] as const) {
      const now = await stage.keys(kind)
      expect(idOf(now, 'old')).toBe(
        idOf(
          atFirst.filter(key => key.kind === kind),
          'current',
        ),
      )
      expect(idOf(now, 'current')).not.toBe(idOf(now, 'old'))
    }
  })

  test('keeps what was begun before it: keys, sealed data, previews, links, answers', async () => {
    const [a, b] = clientsOf(stage, partner)
    await a.prefillUser({ userid: 'ada', ...ada }, { idempotencyKey: 'ada' })
    const created = await a.createUser(
      { userid: 'eve', ...ada, offername: 'plus' },
      { idempotencyKey: 'eve' },
    )
    const down = { userid: 'eve', offername: 'starter', action: 'downgrade', effective: 'immediate' } as const
    const { previewid } = await a.previewOfferChange(down)
    const link = await a.createLinkToken({ userid: 'ada' })
    linkId = link.sessionid
    const hook = {
      url: 'https://hooks.example.com/in',
      username: 'hook',
      password: 'hidden',
      events: ['user_erased' as const],
    }
    const added = await a.createWebhook(hook, { idempotencyKey: 'hook' })

    outputs.push((await run(['keyring', 'rotate', '--json'], stage.place)).stdout)

    expect(await codeOf(b.prefillUser({ userid: 'ada', ...ada }, { idempotencyKey: 'ada' }))).toBe(
      'user_exists replayed',
    )
    expect(await codeOf(a.prefillUser({ userid: 'ada' }, { idempotencyKey: 'ada' }))).toBe(
      'idempotency_key_reused',
    )
    expect(
      await b.createUser({ userid: 'eve', ...ada, offername: 'plus' }, { idempotencyKey: 'eve' }),
    ).toEqual(created)
    expect(await b.createWebhook(hook, { idempotencyKey: 'hook' })).toMatchObject({
      webhookid: added.webhookid,
    })
    // Beside the receiver's.
    expect((await b.listWebhooks({})).webhooks).toHaveLength(2)
    // The prefill, which was sealed before, has everything that create needs.
    expect(await b.createUser({ userid: 'ada', offername: 'starter' })).toMatchObject({ status: 'active' })
    expect(await b.changeOffer({ ...down, previewid })).toMatchObject({ direction: 'downgrade' })
    const page = await fetch(link.linkurl ?? '')
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<button')
  })

  test('is told by ids alone: no key is in an output or in a log', async () => {
    const file = readKeyringFile(stage.dataDir)
    const shown = await run(['keyring', 'show'], stage.place)
    outputs.push(shown.stdout)
    const text = outputs.join('') + stage.written()
    for (const { id, key } of [...file.rootKeys.keys, ...file.peppers.keys]) {
      expect(shown.stdout).toContain(id)
      for (const form of ['base64', 'hex', 'base64url'] as const)
        expect(text).not.toContain(key.toString(form))
    }
  })

  wholeRunTest(
    'ends with the old keys retired once nothing hangs on them, and a restart that knows the new ones only',
    async () => {
      const [a, b] = clientsOf(stage, partner)
      await Promise.all([a, b].map(one => one.getUser({ userid: 'ada' })))
      const old = (await stage.keys()).filter(key => key.state === 'old')
      for (const { id } of old.filter(key => key.kind === 'root'))
        await runJson(['keyring', 'retire', id], stage.place)
      const peppers = old.filter(key => key.kind === 'pepper')
      // The link was created under the later of the two.
      expect(peppers.map(key => key.inuse['sessions'])).toEqual([0, 1])
      expect(await refusal(stage, 'keyring', 'retire', peppers.at(-1)?.id ?? '')).toMatch(
        /^The pepper [\w-]+ is in use \(.*access token.*\): `enrolment keyring show` tells when/,
      )
      // Data hashed with the old peppers is given up: the link, and the secret with its tokens.
      await a.revokeLinkToken({ sessionid: linkId })
      const { live, secret } = await runJson<{ live: string[]; secret: string }>(
        ['key', 'rotate', partner.partnerid],
        stage.place,
      )
      await runJson(['key', 'revoke', partner.partnerid, live[0] ?? ''], stage.place)
      for (const { id } of peppers) await runJson(['keyring', 'retire', id], stage.place)
      expect((await stage.keys()).map(key => key.state)).toEqual(['current', 'current'])

      const renewed = { ...partner, clientsecret: secret }
      for (const one of clientsOf(stage, renewed)) await one.getUser({ userid: 'ada' })
      await stage.restart()
      for (const [round, one] of clientsOf(stage, renewed).entries()) {
        expect(await codeOf(one.prefillUser({ userid: 'ada', ...ada }, { idempotencyKey: 'ada' }))).toBe(
          'user_exists replayed',
        )
        await one.updateUser({ userid: 'ada', phone: `305555014${round}` })
      }
      expect(stage.written()).not.toMatch(/"event":"(failure|keyring_unreadable|crashed)"/)
    },
  )
})
