import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { copyBinaries } from './binaries-copy.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'

async function linked() {
  return true
}

test('a copy can be read by everybody and written by nobody else, whatever the modes of the original', async () => {
  const { installed, place } = await folders()
  const copy = await copyBinaries(installed, [place], linked)
  expect(await readFile(join(copy, 'native/bin/postgres'), 'utf8')).toBe('program')
  const modes = await Promise.all(
    ['.', 'native', 'native/bin', 'native/bin/postgres', 'native/share/deep/zone'].map(async path => [
      path,
      ((await stat(join(copy, path))).mode & 0o777).toString(8),
    ]),
  )
  expect(Object.fromEntries(modes)).toEqual({
    '.': '755',
    native: '755',
    'native/bin': '755',
    'native/bin/postgres': '755',
    'native/share/deep/zone': '644',
  })
})

test('several who copy at once get one whole copy, and leave nothing else', async () => {
  const { installed, place } = await folders()
  const copies = await Promise.all([1, 2, 3, 4].map(() => copyBinaries(installed, [place], linked)))
  expect(new Set(copies).size).toBe(1)
  expect((await readdir(place)).map(name => join(place, name))).toEqual([copies[0]])
})

test('a copy that lost files is made whole again, and a whole one is used as it is', async () => {
  const { installed, place } = await folders()
  const copy = await copyBinaries(installed, [place], linked)
  const made = await stat(copy)
  expect((await stat(await copyBinaries(installed, [place], linked))).ino).toBe(made.ino)
  await rm(join(copy, 'native/share/deep/zone'))
  expect(await copyBinaries(installed, [place], linked)).toBe(copy)
  expect(await readFile(join(copy, 'native/share/deep/zone'), 'utf8')).toBe('zone')
  expect(await readdir(place)).toHaveLength(1)
})

test('what somebody else could have written is not run: the next place is taken, or none', async () => {
  const { installed, place } = await folders()
  const planted = await copyBinaries(installed, [place], linked)
  await chmod(planted, 0o777)
  const elsewhere = (await folders()).place
  expect(await copyBinaries(installed, [place, elsewhere], linked)).toContain(elsewhere)
  const refused = copyBinaries(installed, [place], linked)
  await expect(refused).rejects.toThrow(EmbeddedPostgresError)
  await expect(refused).rejects.toThrow(`${planted} belongs to another user`)
})

async function folders(): Promise<{ installed: string; place: string }> {
  const root = await mkdtemp(join(tmpdir(), 'binaries-copy-test-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const installed = join(root, 'installed')
  const place = join(root, 'place')
  await mkdir(place)
  await mkdir(join(installed, 'native/bin'), { recursive: true })
  await mkdir(join(installed, 'native/share/deep'), { recursive: true })
  await writeFile(join(installed, 'package.json'), '{"version":"18.0.0"}')
  await writeFile(join(installed, 'native/pg-symlinks.json'), '[]')
  await writeFile(join(installed, 'native/bin/postgres'), 'program', { mode: 0o700 })
  await writeFile(join(installed, 'native/share/deep/zone'), 'zone', { mode: 0o600 })
  return { installed, place }
}
