// Packs what operators install into a new folder: a tarball of each package, and beside them a package.json and a
// package-lock.json by which `npm ci` installs the tarballs with the versions and hashes that were tested. A lockfile inside a
// tarball would have no effect: npm reads one only from the registry or from the folder in which it installs.
//   node scripts/pack.mjs DIR
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folders = ['contract', 'command', 'embedded-postgres', 'client', 'cli', 'service']
const { packages: lock, lockfileVersion } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))

/** Where Node.js finds a package from a place in the tree: in the nearest folder above that has it. */
function pathOf(name, from) {
  const path = `${from}/node_modules/${name}`
  if (lock[path]) return path
  const above = from.lastIndexOf('/node_modules/')
  return above < 0 ? `node_modules/${name}` : pathOf(name, from.slice(0, above))
}

/** Adds what the package at a place needs, and what that needs. Ours are added by themselves. */
function addNeeds(place, found) {
  const { dependencies, optionalDependencies } = lock[place]
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const path = pathOf(name, place)
    if (lock[path].link || found.has(path)) continue
    const { dev: _, peer: __, ...entry } = lock[path]
    found.set(path, entry)
    addNeeds(path, found)
  }
}

const dir = resolve(process.argv[2] ?? 'tarballs')
mkdirSync(dir)
const dependencies = {}
const found = new Map()
for (const folder of folders) {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', dir]
  const [packed] = JSON.parse(execFileSync('npm', words, { cwd: join(root, folder), encoding: 'utf8' }))
  const resolved = `file:${packed.filename}`
  dependencies[packed.name] = resolved
  const { name: _, ...rest } = lock[folder]
  found.set(`node_modules/${packed.name}`, { ...rest, resolved, integrity: packed.integrity })
  addNeeds(folder, found)
}
const own = { name: 'benefit-enrolment', version: lock[''].version, private: true }
const packages = {
  '': { ...own, dependencies },
  ...Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))),
}
function write(name, content) {
  writeFileSync(join(dir, name), `${JSON.stringify(content, null, 2)}\n`)
}
write('package.json', { ...own, dependencies })
write('package-lock.json', { lockfileVersion, requires: true, packages })
