// Builds what browsers load: script and style sheet of the page and of the operator's console, and the embed's drop-in script.
// node scripts/build-browser.mjs [DIR]: into DIR alone, or to where the packages have them.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = new URL('..', import.meta.url)
const { version } = JSON.parse(readFileSync(new URL('embed/package.json', root), 'utf8'))
const [directory] = process.argv.slice(2)
const out = directory ? pathToFileURL(`${directory}/`) : new URL('service/dist/page/', root)
mkdirSync(out, { recursive: true })
mkdirSync(new URL('embed/dist/', root), { recursive: true })
for (const name of readdirSync(out)) rmSync(new URL(name, out))

const script = await bundle('embed/src/page/page.ts', 'esm')
const stylesheet = await bundle('service/assets/page/page.css', 'iife')
const dropIn = await bundle('embed/src/drop-in.ts', 'iife')
function integrityOf(contents) {
  return `sha384-${createHash('sha384').update(contents).digest('base64')}`
}
const manifest = {
  script: write('page', 'js', script),
  stylesheet: write('page', 'css', stylesheet),
  icon: write('icon', 'svg', readFileSync(new URL('service/assets/page/icon.svg', root))),
  embed: {
    version,
    file: 'benefit-enrolment.js',
    integrity: integrityOf(dropIn),
  },
  released: keepReleased(),
  console: {
    script: write('console', 'js', await bundle('service/assets/console/console.js', 'esm')),
    stylesheet: write('console', 'css', await bundle('service/assets/console/console.css', 'iife')),
  },
}
writeFileSync(new URL('benefit-enrolment.js', out), dropIn)
if (!directory) writeFileSync(new URL('embed/dist/benefit-enrolment.js', root), dropIn)
writeFileSync(new URL('manifest.json', out), `${JSON.stringify(manifest, undefined, 2)}\n`)

/** A released script is served at its address forever, whatever is built later. */
function keepReleased() {
  const folder = new URL('embed/released/', root)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => name.endsWith('.js') && name !== `${version}.js`)
    .map(name => {
      const contents = readFileSync(new URL(name, folder))
      const file = `benefit-enrolment-${name}`
      writeFileSync(new URL(file, out), contents)
      return { version: name.slice(0, -'.js'.length), file, integrity: integrityOf(contents) }
    })
}

async function bundle(entry, format) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    absWorkingDir: fileURLToPath(root),
    bundle: true,
    minify: true,
    write: false,
    format,
    target: ['es2022', 'chrome111', 'firefox114', 'safari16.4'],
    legalComments: 'none',
    // Letters beyond ASCII are escaped, because a host's page may have any encoding.
    charset: 'ascii',
  })
  return outputFiles[0].contents
}

/** The name changes with the content, so that browsers may keep the file forever. */
function write(name, extension, contents) {
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 12)
  const file = `${name}.${hash}.${extension}`
  writeFileSync(new URL(file, out), contents)
  return file
}
