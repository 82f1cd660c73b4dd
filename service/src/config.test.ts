import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from './config.ts'

test('address and root key come from files; a file that cannot be read, or that everybody can, or a setting beside it, is refused by name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const fileOf = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o440 })
    return join(folder, name)
  }
  const url = 'postgres://enrolment:secret@db.example/enrolment'
  const rootKey = Buffer.alloc(32, 7).toString('base64')
  const files = {
    DATABASE_URL_FILE: fileOf('url', `${url}\n`),
    ENROLMENT_ROOT_KEY_FILE: fileOf('key', `${rootKey}\n`),
  }
  expect(readConfig(files)).toMatchObject({ databaseUrl: url, rootKey })
  expect(() => readConfig({ ...files, DATABASE_URL: url })).toThrow(
    'Both DATABASE_URL and DATABASE_URL_FILE are set: set one of them.',
  )
  chmodSync(join(folder, 'key'), 0o444)
  expect(() => readConfig(files)).toThrow(
    /^Everybody on this machine may use the file .*, which ENROLMENT_ROOT_KEY_FILE names: .*chmod o=/,
  )
  expect(() => readConfig({ ENROLMENT_ROOT_KEY_FILE: join(folder, 'none') })).toThrow(
    /which ENROLMENT_ROOT_KEY_FILE names, cannot be read \(ENOENT\)/,
  )
})
