import { expect, test } from 'vitest'
import { webhookOf } from '../../service/src/webhooks/api/view.ts'
import { changeEndpoint, getEndpoint } from '../../service/src/webhooks/endpoint/endpoints.ts'
import { findAttempts } from '../../service/src/webhooks/log/attempts.ts'
import { patientForLocks, waitForLock } from '../hold-users.ts'
import { goByTicks } from '../ticks.ts'
import { type Delivery, startReceiver } from './receiver.ts'
import { dispatchRig } from './rig.ts'

function basic(password: string) {
  return `Basic ${Buffer.from(`hook:${password}`).toString('base64')}`
}

/** An endpoint with the credentials `pass`, and a function that gives it others. */
async function withEndpoint(own: { deadlineMs?: number } = {}) {
  const rig = await dispatchRig()
  const receiver = await startReceiver()
  const { webhookid } = await rig.addEndpoint(receiver.url)
  const dispatcher = rig.open({}, own)
  const patient = patientForLocks(rig.database)
  const rotateTo = (
    password: string,
    beforeCommit: () => Promise<void> = async () => {},
    more: { username?: string } = { username: 'hook' },
  ) =>
    patient.transaction(async tx => {
      await tx.query({ name: '', text: 'set local idle_in_transaction_session_timeout = 0', values: [] })
      const changes = { credentials: { ...more, password } }
      const input = { partner: rig.partner, endpointId: webhookid, changes }
      await changeEndpoint(tx, input, { rules: { sandbox: true, allow: [] }, real: rig.now })
      await beforeCommit()
    })
  /** Delivers one event; returns the requests that were made for it. */
  const send = async () => {
    const [eventId = ''] = await rig.raise(['u'])
    await dispatcher.idle()
    const attempts = await findAttempts(rig.database, rig.partner, eventId)
    return attempts.map(one => [one.pair, one.status ?? one.error_class])
  }
  const look = async () => {
    const row = await getEndpoint(rig.database, rig.partner.partnerId, webhookid)
    return row && { accepted_pair: row.health.acceptedPair, ...webhookOf(row, rig.partner, rig.now()) }
  }
  return { rig, receiver, rotateTo, send, look }
}

test('the two requests of one attempt share its deadline', async () => {
  goByTicks()
  const { rig, receiver, rotateTo, send } = await withEndpoint({ deadlineMs: 3000 })
  await using _ = rig
  await rotateTo('next')
  const isNext = (delivery: Delivery) => delivery.authorization === basic('next')
  receiver.answer = delivery => response =>
    setTimeout(() => response.writeHead(isNext(delivery) ? 401 : 200).end(), isNext(delivery) ? 1500 : 2500)
  expect(await send()).toEqual([
    ['next', 401],
    ['current', 'timeout'],
  ])
  await receiver.close()
})

test('a second rotation keeps the credentials that were accepted last, whether the endpoint moved to the new ones or back', async () => {
  const { rig, receiver, rotateTo, send, look } = await withEndpoint()
  await using _ = rig
  let accepted = basic('pass')
  receiver.answer = delivery => (delivery.authorization === accepted ? 200 : 401)
  await send()
  await rotateTo('first')
  accepted = basic('first')
  expect(await send()).toEqual([['next', 200]])
  accepted = basic('pass')
  await send()
  expect(await look()).toMatchObject({ accepted_pair: 'current' })
  await rotateTo('second')
  expect(await send()).toEqual([
    ['next', 401],
    ['current', 200],
  ])
  accepted = basic('second')
  expect(await send()).toEqual([['next', 200]])
  await rotateTo('third')
  expect(await send()).toEqual([
    ['next', 401],
    ['current', 200],
  ])
  await receiver.close()
})

test('of two changes of the credentials at once, neither loses those that the endpoint accepts', async () => {
  const { rig, receiver, rotateTo, send } = await withEndpoint()
  await using _ = rig
  await rotateTo('first')
  receiver.answer = delivery => (delivery.authorization === basic('first') ? 200 : 401)
  expect(await send()).toEqual([['next', 200]])
  let other: Promise<void> = Promise.resolve()
  await rotateTo('second', async () => {
    other = rotateTo('third')
    await waitForLock(rig, other)
  })
  await other
  expect(await send()).toEqual([
    ['next', 401],
    ['current', 200],
  ])
  await receiver.close()
})

test('a password without a user name belongs to the newest one, even if that is set at the same time', async () => {
  const { rig, receiver, rotateTo, look } = await withEndpoint()
  await using _ = rig
  let other: Promise<void> = Promise.resolve()
  const beside = async () => {
    other = rotateTo('third', undefined, {})
    await waitForLock(rig, other)
  }
  await rotateTo('second', beside, { username: 'renamed' })
  await other
  expect(await look()).toMatchObject({ nextusername: 'renamed' })
  await receiver.close()
})
