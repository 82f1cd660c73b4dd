// Builds the client a second time, for projects that use `require` and for TypeScript's older module resolution:
// one CommonJS file with its types, in a folder whose own `package.json` marks it as CommonJS.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = new URL('../client/', import.meta.url)
const dist = new URL('dist/', root)
const out = new URL('dist/cjs/', root)

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
await build({
  entryPoints: [fileURLToPath(new URL('src/index.ts', root))],
  outfile: fileURLToPath(new URL('index.js', out)),
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
})
for (const name of readdirSync(dist)) {
  if (name.endsWith('.d.ts') && name !== 'drift.d.ts')
    writeFileSync(new URL(name, out), readFileSync(new URL(name, dist)))
}
writeFileSync(new URL('package.json', out), '{ "type": "commonjs" }\n')
