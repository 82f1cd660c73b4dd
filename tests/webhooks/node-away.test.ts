// @databases stock

import { expect, test } from 'vitest'
import { type Query, sql } from '../../service/src/db/sql.ts'
import { partnersApart } from './partners-apart.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

// While a node of a cluster is away, a heartbeat asks each node by itself. Here each partner has a node of its own, and
// that of one partner is away; tests/database/one-node.test.ts sees the same on a real cluster.

/** Two partners, and a database in which the heartbeat finds the node of the first away for as long as `isAway`. */
async function twoNodes(rig: DispatchRig, away: (end: Promise<void>) => Promise<void>) {
  const [lost, other] = [await startReceiver(), await startReceiver()]
  const partner = await rig.newPartner('Other')
  let end = () => {}
  const ended = new Promise<void>(resolve => {
    end = resolve
  })
  const state = { isAway: false, isCut: false, asked: 0 }
  /** A statement of the heartbeat that is not about the other partner alone. */
  const needsLost = ({ text, values }: Query) => {
    const names = (id: string) => values.some(value => Array.isArray(value) && value.includes(id))
    return (
      /where l\.owner =|coalesce\(l\.epoch|into endpoint_leases|unnest.*\bwanted/s.test(text) &&
      (names(rig.partner.partnerId) || !names(partner.partnerId))
    )
  }
  const database = partnersApart(rig.database, async statement => {
    if (state.isCut && /(update|into) dispatchers/.test(statement.text)) throw new Error('no beat')
    if (!state.isAway || !needsLost(statement)) return
    state.asked += 1
    await away(ended)
  })
  const back = () => {
    state.isAway = false
    end()
  }
  const close = async () => {
    await lost.close()
    await other.close()
  }
  return { lost, other, partner, state, database, back, close }
}

const kinds = {
  refuses: () => Promise.reject(Object.assign(new Error('the node is away'), { code: '57P01' })),
  'answers nothing': (end: Promise<void>) => end,
}

test.each(Object.entries(kinds))(
  'while a node %s, endpoints at others are taken: new ones, and all of them by a process that starts',
  async (_, away) => {
    await using rig = await dispatchRig()
    const { lost, other, partner, state, database, back, close } = await twoNodes(rig, away)
    await rig.addEndpoint(lost.url)
    const first = rig.open({}, { database })
    await first.idle()
    state.isAway = true
    await rig.addEndpoint(other.url, { partner })
    await rig.raise(['new'], { partner })
    first.refresh()
    await other.received(1)
    await first.close()
    const second = rig.open({}, { database })
    await rig.raise(['started'], { partner })
    second.refresh()
    await other.received(2)
    expect(state.asked).toBeGreaterThan(1)
    // What is due at the node that was away arrives once it answers.
    await rig.raise(['late'])
    expect(lost.deliveries).toHaveLength(0)
    back()
    second.refresh()
    await lost.received(1)
    expect(other.deliveries.map(({ userid }) => userid)).toEqual(['new', 'started'])
    await second.close()
    await close()
  },
)

test.each(Object.entries(kinds))(
  'a process whose lease has ended sends nothing from a node that %s until it has seen what is still its own there',
  async (_, away) => {
    await using rig = await dispatchRig()
    const { lost, other, partner, state, database, back, close } = await twoNodes(rig, away)
    await rig.addEndpoint(lost.url)
    await rig.addEndpoint(other.url, { partner })
    const dispatcher = rig.open({ leaseMs: 2000 }, { database })
    await rig.raise(['u'])
    await rig.raise(['u'], { partner })
    await dispatcher.idle()
    state.isCut = true
    await expect
      .poll(() => rig.database.query(sql`select 1 as alive from dispatchers where until > clock_timestamp()`))
      .toEqual([])
    state.isAway = true
    state.isCut = false
    dispatcher.refresh()
    await expect.poll(() => state.asked).toBeGreaterThan(0)
    await rig.raise(['v'], { partner })
    dispatcher.refresh()
    await other.received(2)
    await rig.raise(['v'])
    dispatcher.nudge()
    await rig.raise(['w'], { partner })
    dispatcher.nudge()
    await other.received(3)
    expect(lost.deliveries).toHaveLength(1)
    back()
    dispatcher.refresh()
    await lost.received(2)
    await dispatcher.close()
    await close()
  },
)

test('two processes that know different numbers of endpoints at a node that is away leave none at another', async () => {
  await using rig = await dispatchRig()
  const { lost, other, partner, state, database, back, close } = await twoNodes(rig, kinds.refuses)
  for (let count = 0; count < 2; count += 1) await rig.addEndpoint(lost.url)
  const first = rig.open({}, { database })
  await first.idle()
  state.isAway = true
  const second = rig.open({}, { database })
  await second.idle()
  for (let count = 1; count <= 2; count += 1) {
    await rig.addEndpoint(other.url, { partner })
    for (const dispatcher of [first, second]) {
      dispatcher.refresh()
      await dispatcher.idle()
    }
  }
  const taken = await rig.database.query(sql`
    select endpoint_id from endpoint_leases where partner_id = ${partner.partnerId}`)
  expect(taken).toHaveLength(2)
  back()
  await close()
})
