// BullMQ on a Redis that the benchmark starts; the log of attempts goes to PostgreSQL, as for every system. An
// event counts as committed when Redis has accepted it, because Redis shares no transaction with a database.
import { importPeer, openHandler } from '../peer.mjs'

export async function open({ address, peers, redis, ...config }) {
  const { Queue, Worker } = await importPeer(peers, 'bullmq')
  const handler = await openHandler({ address, ...config })
  const connection = { path: redis, maxRetriesPerRequest: null }
  const queue = new Queue('hook', { connection })
  const opts = { attempts: 12, backoff: { type: 'exponential', delay: 5000 }, removeOnComplete: true }
  let worker
  return {
    async queue(events) {
      await queue.addBulk(events.map(data => ({ name: 'hook', data, opts })))
    },
    async start() {
      worker = new Worker('hook', job => handler.deliver(job.data), {
        connection,
        concurrency: config.concurrency,
      })
      worker.on('error', () => {})
      await worker.waitUntilReady()
    },
    async rest() {
      await worker?.close()
    },
    async close() {
      await worker?.close(true)
      await queue.close()
      await handler.close()
    },
  }
}
