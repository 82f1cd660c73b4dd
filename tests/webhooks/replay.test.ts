import { expect, test } from 'vitest'
import { replayTo, type Selection } from '../../service/src/webhooks/replay.ts'
import { dispatchRig } from './rig.ts'

test('a replay takes 10,000 at most, the oldest, and says where to go on until all is queued', async () => {
  await using rig = await dispatchRig()
  const from = rig.now()
  const users = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`)
  await rig.raise(users(9990))
  rig.advance(1000)
  const [last = ''] = (await rig.raise(users(20))).slice(-1)
  const to = rig.now() + 1000
  // It is made after the events, so that nothing waits for it.
  const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  const target = { partnerId: rig.partner.partnerId, endpointId: webhookid }
  const replay = (selection: Selection, dryRun = false) =>
    rig.database.transaction(tx => replayTo(tx, target, { selection, now: rig.now(), dryRun }))
  const range = { kind: 'range', from, to } as const

  expect(await replay(range, true)).toMatchObject({ count: 10_000, isComplete: false })
  expect(await rig.count('deliveries')).toBe(0)
  const first = await replay(range)
  expect(first).toMatchObject({ count: 10_000, isComplete: false })
  expect(first.continueFrom).toBeGreaterThanOrEqual(from + 1000)
  expect(await rig.count('deliveries')).toBe(10_000)
  const rest = await replay({ ...range, from: first.continueFrom ?? to })
  expect(rest).toMatchObject({ isComplete: true, continueFrom: null })
  expect(await rig.count('deliveries')).toBe(10_010)
  // What waits already is not queued twice.
  expect(await replay({ kind: 'ids', ids: [last] })).toMatchObject({ isComplete: true })
  expect(await rig.count('deliveries')).toBe(10_010)
})
