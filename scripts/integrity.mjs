// The drop-in script's integrity hash, of what scripts/build-browser.mjs has built:
// node scripts/integrity.mjs [BASE_URL]  prints the tag that loads it
// node scripts/integrity.mjs --write     writes version and hash into docs/embed.md
// node scripts/integrity.mjs --release   keeps the file in embed/released, from where it is served for ever; writes, too
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const root = new URL('..', import.meta.url)
const built = new URL('service/dist/page/', root)
const { version, file, integrity } = JSON.parse(readFileSync(new URL('manifest.json', built), 'utf8')).embed
const [wish = 'https://benefits.example.com'] = process.argv.slice(2)

if (wish === '--release') keep()
if (wish === '--release' || wish === '--write') writeDocs()
else {
  console.log(
    `<script src="${wish}/embed/${version}/${file}" data-partner="YOUR_PARTNER_ID" integrity="${integrity}" crossorigin="anonymous"></script>`,
  )
}

/** Refuses to overwrite a released version with other bytes, because partners have its hash in their pages. */
function keep() {
  const released = new URL('embed/released/', root)
  const kept = new URL(`${version}.js`, released)
  const contents = readFileSync(new URL(file, built))
  if (existsSync(kept) && !readFileSync(kept).equals(contents)) {
    process.stderr.write(
      `${version} was released with other bytes and stays as it was: raise the version in embed/package.json and embed/src/events.ts, build, and release that.\n`,
    )
    process.exit(1)
  }
  mkdirSync(released, { recursive: true })
  writeFileSync(kept, contents)
}

function writeDocs() {
  const docs = new URL('docs/embed.md', root)
  const text = readFileSync(docs, 'utf8')
    .replaceAll(/\/embed\/\d+\.\d+\.\d+\/benefit-enrolment\.js/g, `/embed/${version}/${file}`)
    .replaceAll(/sha384-[A-Za-z0-9+/]{64}/g, integrity)
  writeFileSync(docs, text)
}
