// Prints the tag that loads the drop-in script, with its integrity hash: node scripts/integrity.mjs [BASE_URL]
import { readFileSync } from 'node:fs'

const [base = 'https://benefits.example.com'] = process.argv.slice(2)
const manifest = new URL('../service/dist/page/manifest.json', import.meta.url)
const { version, file, integrity } = JSON.parse(readFileSync(manifest, 'utf8')).embed
console.log(
  `<script src="${base}/embed/${version}/${file}" data-partner="YOUR_PARTNER_ID" integrity="${integrity}" crossorigin="anonymous"></script>`,
)
