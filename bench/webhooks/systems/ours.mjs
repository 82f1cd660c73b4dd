// The dispatcher of the built service on a bare database, with events written as the executor writes them.
const dist = new URL('../../../service/dist/', import.meta.url)
function load(name) {
  return import(new URL(name, dist).href)
}
const { openDatabase } = await load('db/database.js')
const { migrate } = await load('db/migrate.js')
const { saveEvents } = await load('membership/saving/save-events.js')
const { openDirectory } = await load('partners/directory.js')
const { createPartner } = await load('partners/administer.js')
const { loadKeyring } = await load('vault/keyring.js')
const { uuidv7 } = await load('vault/uuid.js')
const { openDispatcher } = await load('webhooks/delivery/dispatcher.js')
const { addEndpoint } = await load('webhooks/endpoint/endpoints.js')
const { webhookMetrics } = await load('webhooks/delivery/metrics.js')
const { createOutgoing } = await load('webhooks/egress/outgoing.js')
const { createResolver } = await load('webhooks/egress/resolver.js')

const rules = { sandbox: true, allow: [] }
function real() {
  return Date.now()
}

export async function open({ address, origin, rootKey, targets }) {
  const database = openDatabase(address, { max: 10, onError: () => {} })
  const deliveryDatabase = openDatabase(address, { max: 4, onError: () => {} })
  const keyring = loadKeyring({ rootKey })
  await migrate(database)
  const directory = openDirectory({ database, keyring, mode: 'sandbox', real })
  // Each target has a partner of its own, so that an event goes to it and to no other.
  const partners = new Map()
  for (const target of targets) {
    const made = await createPartner(
      { name: target },
      { database, keyring, mode: 'sandbox', real, by: 'bench', knownOffers: [] },
    )
    const partner = await directory.partner(made.row.partner_id)
    const wish = {
      partner,
      url: new URL(target, origin).href,
      username: 'hook',
      password: 'pass',
      events: 'all',
    }
    const { webhookid } = await addEndpoint(database, wish, { rules, real })
    partners.set(target, { partner, webhookid })
  }
  const outgoing = createOutgoing({ rules, resolver: createResolver() })
  let dispatcher
  return {
    async queue(events) {
      const raised = events.map(({ key, body, target }) => ({
        id: key,
        eventname: 'offer_activiation_successful',
        data: {},
        user: {
          partnerId: partners.get(target).partner.partnerId,
          serviceId: uuidv7(real()),
          userid: 'u-1001',
        },
        body: Buffer.from(body),
      }))
      await database.commit(saveEvents(raised, real()))
      dispatcher?.nudge(new Set(raised.map(event => event.user.partnerId)))
    },
    async start() {
      const metrics = webhookMetrics({ database: deliveryDatabase, real })
      const log = (event, fields) => process.stderr.write(`${JSON.stringify({ event, ...fields })}\n`)
      dispatcher = openDispatcher({ database: deliveryDatabase, directory, outgoing, metrics, real, log })
    },
    async rest() {
      await dispatcher?.idle()
      await dispatcher?.close()
    },
    async close() {
      await dispatcher?.close()
      await outgoing.close()
      await deliveryDatabase.close()
      await database.close()
    },
  }
}
