// `npm run watch`: runs `enrolment dev`, and after each change of a source builds and starts it again on the same data.
// What does not build leaves the running one as it is. A page in the browser is reloaded by hand.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { refuseOptionsOfNpm } from './options-of-npm.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const watched = [
  'contract/src',
  'command/src',
  'embedded-postgres/src',
  'service/src',
  'service/assets',
  'service/migrations',
  'client/src',
  'cli/src',
  'embed/src',
  'examples',
  'docs',
]
const LOOK_MS = 500
// A free port that `--port 0` found is kept, so that an open page finds the next start.
let given = process.argv.slice(2)
refuseOptionsOfNpm()

let service
let isBuilding = false
let isStale = false

await bringUp()
// Checked twice a second: when an editor saves by replacing the file, Node 20 keeps watching the old one.
let known = newest()
setInterval(() => {
  const found = newest()
  if (found.at <= known.at) return
  known = found
  void changed(found.name)
}, LOOK_MS)
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, async () => {
    await stop()
    process.exit(0)
  })

/** Builds and starts again; a change during that is handled afterwards. */
async function changed(name) {
  isStale = true
  if (isBuilding) return
  isBuilding = true
  while (isStale) {
    isStale = false
    process.stderr.write(`\n-- ${name} changed: building\n`)
    await bringUp()
  }
  isBuilding = false
}

/** The source that was changed last, and when. */
function newest() {
  let last = { name: '', at: 0 }
  for (const folder of watched.filter(path => existsSync(join(root, path))))
    for (const entry of readdirSync(join(root, folder), { recursive: true })) {
      const name = join(folder, entry)
      if (/(^|[/\\])(dist|node_modules)([/\\]|$)|\.test\.ts$|~$|\.sw.$|generated[^/\\]*\.ts$/.test(name))
        continue
      const entryNow = statSync(join(root, name), { throwIfNoEntry: false })
      if (entryNow?.isFile() && entryNow.mtimeMs > last.at) last = { name, at: entryNow.mtimeMs }
    }
  return last
}

async function bringUp() {
  const began = performance.now()
  const [status] = await once(spawnNode('scripts/setup.mjs'), 'exit')
  if (status !== 0) {
    process.stderr.write('-- this does not build: mend it, and it is built again\n')
    return
  }
  await stop()
  service = startService()
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  process.stderr.write(`-- built in ${seconds} s, starting\n`)
}

async function stop() {
  if (!service || service.exitCode !== null || service.signalCode !== null) return
  const ended = once(service, 'exit')
  service.kill('SIGTERM')
  await ended
}

function startService() {
  const words = [join(root, 'service/dist/main.js'), 'dev', ...given]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout.on('data', printed => {
    process.stdout.write(printed)
    const [, port] = /^listening on http:\S+:(\d+)/.exec(printed.toString()) ?? []
    const zero = given.indexOf('0')
    if (port && given[zero - 1] === '--port') given = given.with(zero, port)
    if (port) given = given.map(word => (word === '--port=0' ? `--port=${port}` : word))
  })
  return child
}

function spawnNode(file, ...words) {
  return spawn(process.execPath, [join(root, file), ...words], { stdio: ['ignore', 'inherit', 'inherit'] })
}
