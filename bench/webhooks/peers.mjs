// The queues to compare with, installed for the benchmark only, in a folder that git ignores. They get a Node.js of
// their own, because their newest versions need a newer one than the service.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../.peers/', import.meta.url))
const wanted = {
  private: true,
  type: 'module',
  dependencies: {
    node: '24.21.0',
    'graphile-worker': '0.18.0',
  },
  allowScripts: { node: true },
}

/**
 * Installs the peers unless they are installed; returns their folder, their Node.js and its version, or says why
 * there are none.
 */
export function installPeers() {
  const manifest = join(folder, 'package.json')
  const text = `${JSON.stringify(wanted, null, 2)}\n`
  const node = join(folder, 'node_modules/node/bin/node')
  const isThere = existsSync(manifest) && readFileSync(manifest, 'utf8') === text && existsSync(node)
  if (!isThere) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(manifest, text)
    const args = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
    const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' })
    if (status !== 0) return { missing: `npm could not install them: ${stderr.trim().split('\n')[0]}` }
  }
  const { status } = spawnSync(node, ['--version'])
  return status === 0
    ? { folder, node, version: wanted.dependencies.node }
    : { missing: 'the node package did not bring a Node for this machine' }
}
