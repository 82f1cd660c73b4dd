import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// The tests beside this one read whatever a release has left here, so they would also pass on nothing.

const folder = new URL('./', import.meta.url)
const ofAWorld = ['backup.tar.xz', 'data.tar.xz', 'database.sql.gz', 'formats.json', 'world.json']
const ofARelease = [...ofAWorld, 'commands.json'].sort()
/** The commit before 1.0.0 whose data every version must open, but whose commands and settings were never released. */
const beforeTheDiet = 'e4dc5b23'
/** Its world also has what was answered about it just before there was family cover (commit 7270dd01). */
const ofTheFirst = [...ofAWorld, 'without-families.json.gz'].sort()

/** The hashes of the files of a version, as the freeze wrote them down, and as they are. */
function hashesOf(release: string) {
  const at = new URL(`${release}/`, folder)
  const names = readdirSync(at).filter(name => name !== 'hashes.json')
  const found = names.map(name => [name, sha256(readFileSync(new URL(name, at)))])
  const written = JSON.parse(readFileSync(new URL('hashes.json', at), 'utf8')) as Record<string, string>
  return { written, found: Object.fromEntries(found) as Record<string, string> }
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

test.skipIf(process.env['WRITE_RELEASE'] !== undefined)(
  'what a version has left to later ones is there, and has the bytes that it had',
  () => {
    const left = readdirSync(folder).filter(name => !name.endsWith('.ts'))
    expect(left).toContain(beforeTheDiet)
    for (const version of left) {
      const { written, found } = hashesOf(version)
      expect([version, found]).toEqual([version, written])
      expect(Object.keys(written)).toEqual(version === beforeTheDiet ? ofTheFirst : ofARelease)
    }
  },
)
