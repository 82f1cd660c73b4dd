import { createRequire } from 'node:module'
import { join } from 'node:path'

// Prism as a proxy before many services, in a process of its own, because its packages are none of ours: they lie in the folder
// that the first argument names. Each message has the address of a service, and its answer that of the proxy before it.

const [, , folder = ''] = process.argv
const take = createRequire(join(folder, 'prism.cjs'))
const { createServer } = take('@stoplight/prism-http-server')
const { getHttpOperationsFromSpec } = take('@stoplight/prism-http')
const { createLogger } = take('@stoplight/prism-core')

/** What `prism proxy` passes on, but without a line for each request. */
const settings = {
  isProxy: true,
  validateRequest: true,
  validateResponse: true,
  checkSecurity: true,
  errors: false,
}
const mock = { dynamic: false, ignoreExamples: false, seed: undefined }
const logger = createLogger('Prism', { level: 'silent' })

/** Reading a description and compiling its schemas costs most, and services differ only in the address that theirs names. */
const known = new Map()
function operationsOf(description) {
  if (!known.has(description)) known.set(description, getHttpOperationsFromSpec(JSON.parse(description)))
  return known.get(description)
}

const servers = new Map()
async function open(service) {
  const answer = await fetch(`${service}/openapi.json`)
  const operations = await operationsOf((await answer.text()).replaceAll(service, 'http://localhost'))
  const config = { ...settings, mock, upstream: new URL(service), upstreamProxy: undefined }
  const server = createServer(operations, { cors: true, config, components: { logger } })
  const address = await server.listen(0, '127.0.0.1')
  servers.set(address, server)
  return address
}

process.on('message', async ({ id, service, close }) => {
  try {
    if (close) await servers.get(close).close()
    process.send({ id, address: close ? close : await open(service) })
  } catch (error) {
    process.send({ id, refused: String(error?.stack ?? error) })
  }
})
// It ends with who started it.
process.on('disconnect', () => process.exit())
