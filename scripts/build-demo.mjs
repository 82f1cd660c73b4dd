// Bundles the demo partner's site with the client into service/dist, so that an installed package has the whole demo.
import { cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = new URL('..', import.meta.url)
const from = new URL('examples/gig-platform/', root)
const out = new URL('service/dist/gig-platform/', root)
rmSync(out, { recursive: true, force: true })
await build({
  entryPoints: [fileURLToPath(new URL('platform.mjs', from))],
  outfile: fileURLToPath(new URL('platform.mjs', out)),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
})
cpSync(new URL('site/', from), new URL('site/', out), { recursive: true })
