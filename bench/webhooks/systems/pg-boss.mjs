// pg-boss: fetches batches without a pause while they are full, is woken by NOTIFY, and completes each job by
// itself.
import { importPeer, openHandler } from '../peer.mjs'

export async function open({ address, peers, ...config }) {
  const { PgBoss } = await importPeer(peers, 'pg-boss')
  const handler = await openHandler({ address, ...config })
  const boss = new PgBoss({ ...address, max: 10, useListenNotify: true })
  boss.on('error', error => process.stderr.write(`pg-boss: ${error.message}\n`))
  await boss.start()
  await boss.createQueue('hook', {
    retryLimit: 11,
    retryDelay: 5,
    retryBackoff: true,
    notify: true,
    expireInSeconds: 60,
  })
  const workers = 4
  return {
    async queue(events) {
      await boss.insert(
        'hook',
        events.map(data => ({ data })),
      )
    },
    async start() {
      const batchSize = Math.ceil(config.concurrency / workers)
      const options = {
        batchSize,
        localConcurrency: workers,
        pollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true,
      }
      await boss.work('hook', { ...options, perJobResults: true }, jobs =>
        Promise.all(
          jobs.map(job =>
            handler.deliver(job.data).then(
              () => ({ id: job.id, status: 'completed' }),
              () => ({ id: job.id, status: 'failed' }),
            ),
          ),
        ),
      )
    },
    async rest() {
      await boss.offWork('hook')
    },
    async close() {
      await boss.stop({ graceful: false })
      await handler.close()
    },
  }
}
