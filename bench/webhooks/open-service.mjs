import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Starts the whole service as an operator would, on a database of its own. */
export async function openService(shared) {
  const name = `bench_${randomBytes(4).toString('hex')}`
  await shared.createDatabase(shared.address, name)
  const { host, port, user } = shared.address
  const bin = fileURLToPath(new URL('../../service/bin/enrolment.js', import.meta.url))
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0', '--data', shared.scratch], {
    cwd: shared.scratch,
    env: {
      PATH: process.env.PATH,
      HOME: shared.scratch,
      ENROLMENT_ROOT_KEY: shared.rootKey,
      DATABASE_URL: `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('listening on ')) break
  return {
    database: name,
    async close() {
      const ended = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      await shared.dropDatabase(shared.address, name)
    },
  }
}
