// A dispatcher in a process of its own, on the built service: it may be killed at a chosen step.
import { openDatabase } from '../../service/dist/db/database.js'
import { openDirectory } from '../../service/dist/partners/directory.js'
import { loadKeyring } from '../../service/dist/vault/keyring.js'
import { openDispatcher } from '../../service/dist/webhooks/delivery/dispatcher.js'
import { webhookMetrics } from '../../service/dist/webhooks/delivery/metrics.js'
import { createOutgoing } from '../../service/dist/webhooks/egress/outgoing.js'
import { createResolver } from '../../service/dist/webhooks/egress/resolver.js'

const { address, rootKey, step, aheadMs, options } = JSON.parse(process.argv[2])
/** The clock of the test, which may have moved. */
function real() {
  return Date.now() + aheadMs
}

/** Ends this process as in a crash, when its step is reached. */
let passed = 0
function pass(name) {
  if (step === undefined || step.name !== name) return
  passed += 1
  if (passed === step.count) process.kill(process.pid, 'SIGKILL')
}

function kindOf(text) {
  if (text.includes('insert into delivery_attempts')) return 'result'
  return text.includes('with ask as materialized') ? 'claim' : 'other'
}

const bare = openDatabase(address, { max: 4, onError: () => {} })
const database = {
  ...bare,
  async query(query) {
    const kind = kindOf(query.text)
    pass(`before ${kind}`)
    const rows = await bare.query(query)
    if (kind !== 'claim' || rows.length > 0) pass(`after ${kind}`)
    return rows
  },
  async transaction(work) {
    let kind = 'other'
    const result = await bare.transaction(tx =>
      work({
        query(query) {
          const own = kindOf(query.text)
          if (own === 'result') kind = own
          pass(`before ${own}`)
          return tx.query(query)
        },
      }),
    )
    pass(`after ${kind}`)
    return result
  },
  async commit(statements) {
    pass('before result')
    await bare.commit(statements)
    pass('after result')
  },
}
await bare.learnCells()
const bareOutgoing = createOutgoing({ rules: { sandbox: true, allow: [] }, resolver: createResolver() })
const outgoing = {
  ...bareOutgoing,
  async send(destination, request) {
    pass('before send')
    const sending = bareOutgoing.send(destination, request)
    if (step?.name === 'during send') setTimeout(() => pass('during send'), 10)
    const outcome = await sending
    pass('after send')
    return outcome
  },
}
const keyring = loadKeyring({ rootKey })
const directory = openDirectory({ database, keyring, mode: 'sandbox', real })
openDispatcher(
  {
    database,
    directory,
    outgoing,
    metrics: webhookMetrics({ database, real }),
    real,
    log: (event, fields) => process.stderr.write(`${JSON.stringify({ event, ...fields })}\n`),
  },
  options,
)
process.stdout.write('open\n')
