// Bundles what runs without our other packages: the client a second time, for projects that use `require` and for TypeScript's
// older module resolution (one CommonJS file with its types, in a folder whose own `package.json` marks it as CommonJS); and
// the partner's command line with the client in it, so that its tarball needs nothing else. And TypeBox as one module of the
// contract, as Node takes longer to find its hundreds than to run them.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const client = new URL('../client/', import.meta.url)
const cli = new URL('../cli/', import.meta.url)
const contract = new URL('../contract/', import.meta.url)
const dist = new URL('dist/', client)
const out = new URL('dist/cjs/', client)
const forNode = { bundle: true, platform: 'node', target: 'node20', legalComments: 'none' }

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
await build({
  ...forNode,
  entryPoints: [pathOf('src/index.ts', client)],
  outfile: pathOf('index.js', out),
  format: 'cjs',
})
for (const name of readdirSync(dist)) {
  if (name.endsWith('.d.ts') && name !== 'drift.d.ts')
    writeFileSync(new URL(name, out), readFileSync(new URL(name, dist)))
}
writeFileSync(new URL('package.json', out), '{ "type": "commonjs" }\n')

await build({
  ...forNode,
  entryPoints: [pathOf('src/main.ts', cli)],
  outfile: pathOf('dist/benefit-enrolment.js', cli),
  format: 'esm',
  conditions: ['source'],
})

await build({
  ...forNode,
  entryPoints: [pathOf('src/typebox.ts', contract)],
  outfile: pathOf('dist/typebox.js', contract),
  format: 'esm',
})

function pathOf(file, folder) {
  return fileURLToPath(new URL(file, folder))
}
