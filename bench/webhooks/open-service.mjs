import { randomBytes } from 'node:crypto'
import { startServed } from '../served.mjs'

/** Starts the whole service as an operator would, on a database of its own. */
export async function openService(shared) {
  const name = `bench_${randomBytes(4).toString('hex')}`
  await shared.createDatabase(shared.address, name)
  const { host, port, user } = shared.address
  const served = await startServed('idle', {
    env: {
      ENROLMENT_ROOT_KEY: shared.rootKey,
      DATABASE_URL: `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    },
  })
  return {
    database: name,
    async close() {
      await served.close()
      await shared.dropDatabase(shared.address, name)
    },
  }
}
