import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { openDelivery } from '../../service/src/assembly/delivery.ts'
import { openDatabase } from '../../service/src/db/database.ts'
import { openDirectory } from '../../service/src/partners/directory.ts'
import { claimDue } from '../../service/src/webhooks/delivery/claim.ts'
import { targetOf } from '../../service/src/webhooks/delivery/target.ts'
import { openWriter } from '../../service/src/webhooks/delivery/writer.ts'
import { readEndpoints } from '../../service/src/webhooks/endpoint/endpoint.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

// Two databases stand for two cells: each partner is in one of them.

/** A database at a node that accepts connections and answers nothing, until it ends. */
async function hangingDatabase() {
  const sockets = new Set<Socket>()
  const server = createServer(socket => sockets.add(socket.on('error', () => {})))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/nothing`
  const database = openDatabase({ url }, { max: 2, onError: () => {}, connectTimeoutMs: 600_000 })
  const end = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { database, end }
}

test('webhooks flow from one cell while the node of another answers nothing', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  const hanging = await hangingDatabase()
  const cells = [
    { ...hanging.database, cell: 'hanging' },
    { ...rig.database, cell: 'well' },
  ]
  const delivery = openDelivery({
    options: {
      deliveryDatabase: { ...rig.database, cells: () => cells },
      real: rig.now,
      log: () => {},
      webhookRules: { sandbox: true, allow: [] },
      dispatcher: { graceMs: 0 },
    },
    directory: openDirectory({ ...rig, mode: 'sandbox', real: rig.now }),
  })
  delivery.start()
  for (const count of [1, 2, 3]) {
    await rig.raise([`user-${count}`])
    delivery.dispatcher.nudge()
    await receiver.received(count)
  }
  await expect.poll(() => rig.count('deliveries')).toBe(0)
  hanging.end()
  await delivery.close()
  await hanging.database.close()
  await receiver.close()
})

/** An event of a rig's partner, claimed and delivered, but for its result. */
async function unwritten(rig: DispatchRig) {
  const { partnerId } = rig.partner
  const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  await rig.raise(['u'])
  const [row] = await readEndpoints(rig.database, [{ partnerId, endpointId: webhookid }])
  if (!row) throw new Error('the endpoint is missing')
  const target = targetOf(row, rig.partner)
  const clock = { now: rig.now(), aheadMs: rig.now() - Date.now() }
  const [item] = (await claimDue(rig.database, [{ target, room: 1 }], clock)).items
  if (!item) throw new Error('nothing is due')
  const disposition = { kind: 'delivered' } as const
  return { kind: 'result', result: { target, item, disposition, attempts: [], endedAt: rig.now() } } as const
}

test('results of one batch are each written in the cell that has their partner then, although another cell had them all', async () => {
  await using stays = await dispatchRig()
  await using moves = await dispatchRig()
  let former: string | undefined = 'former'
  const cellOf = (id: string) => former ?? (id === moves.partner.partnerId ? 'new' : 'former')
  const cells = { former: stays.database, new: moves.database }
  const of = (id: string) => cells[cellOf(id) as keyof typeof cells]
  const writer = openWriter({
    database: { ...stays.database, cellOf, of },
    directory: openDirectory({ ...stays, mode: 'sandbox', real: stays.now }),
    endpointSlots: 1,
    log: () => {},
    onTold: () => {},
  })
  const entries = [await unwritten(moves), await unwritten(stays)]
  const written = entries.map(
    entry => new Promise<boolean>(resolve => writer.enqueue(entry, ({ ok }) => resolve(ok))),
  )
  former = undefined
  expect(await Promise.all(written)).toEqual([true, true])
  expect([await stays.count('deliveries'), await moves.count('deliveries')]).toEqual([0, 0])
})
