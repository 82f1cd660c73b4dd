import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import migrations from '../../service/migrations/released.json' with { type: 'json' }

// The tests beside this one read whatever a release has left here, so they would also pass on nothing.

const folder = new URL('./', import.meta.url)
const ofARelease = ['backup.tar.xz', 'commands.json', 'database.sql.gz', 'formats.json', 'world.json']

/** The hashes of the files of a release, as the freeze wrote them down, and as they are. */
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
  'what a release has left to later versions is there, and has the bytes that it had',
  () => {
    const releases = readdirSync(folder).filter(name => /^\d+\.\d+\.\d+$/.test(name))
    if (Object.keys(migrations).length > 0) {
      expect(releases).toContain('1.0.0')
      expect(Object.keys(hashesOf('1.0.0').written)).toEqual(ofARelease)
    }
    for (const release of releases) {
      const { written, found } = hashesOf(release)
      expect([release, found]).toEqual([release, written])
    }
  },
)
