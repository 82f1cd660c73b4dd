import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version as today } from '../../embed/src/events.ts'
import { openBrowserFiles } from '../../service/src/registration/browser-files.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const parts = [
  'tsconfig.base.json',
  'embed/tsconfig.json',
  'embed/src',
  'embed/package.json',
  'embed/released',
  'scripts',
  'service/assets/console',
  'service/assets/page',
  'docs/embed.md',
]
function integrityOf(contents: Buffer | string) {
  return `sha384-${createHash('sha384').update(contents).digest('base64')}`
}

/** The build of the drop-in, in a folder elsewhere. */
describe('the drop-in script', () => {
  let copy: string
  const at = (path: string) => join(copy, path)
  const run = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' })
    return { status, stderr }
  }
  const build = () => expect(run('scripts/build-browser.mjs')).toEqual({ status: 0, stderr: '' })
  const change = (path: string, from: string, to: string) => {
    const text = readFileSync(at(path), 'utf8')
    expect(text).toContain(from)
    writeFileSync(at(path), text.replace(from, to))
  }

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'enrolment released '))
    mkdirSync(at('docs'))
    for (const part of parts.filter(path => existsSync(join(root, path))))
      cpSync(join(root, part), at(part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), at('node_modules'), 'junction')
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  test('is the same, byte for byte, wherever and whenever it is built', () => {
    build()
    for (const file of ['benefit-enrolment.js', 'manifest.json'])
      expect(readFileSync(at(`service/dist/page/${file}`))).toEqual(
        readFileSync(join(root, 'service/dist/page', file)),
      )
  })

  test('has the version and hash that stand in the docs (else: node scripts/integrity.mjs --write)', () => {
    expect(run('scripts/integrity.mjs', '--write').status).toBe(0)
    expect(readFileSync(at('docs/embed.md'), 'utf8')).toBe(readFileSync(join(root, 'docs/embed.md'), 'utf8'))
    const { version, integrity } = JSON.parse(
      readFileSync(at('service/dist/page/manifest.json'), 'utf8'),
    ).embed
    const docs = readFileSync(join(root, 'docs/embed.md'), 'utf8')
    expect(docs).toContain(`/embed/${version}/benefit-enrolment.js`)
    expect(docs).toContain(`integrity="${integrity}"`)
  })

  test('stays at its address as it was when a newer one is released', async () => {
    expect(run('scripts/integrity.mjs', '--release')).toEqual({ status: 0, stderr: '' })
    const released = readFileSync(at(`embed/released/${today}.js`))
    change('embed/package.json', `"version": "${today}"`, '"version": "99.5.0"')
    change('embed/src/events.ts', `version = '${today}'`, "version = '99.5.0'")
    build()
    expect(run('scripts/integrity.mjs', '--release').status).toBe(0)
    const app = fastify()
    openBrowserFiles('/stage', pathToFileURL(at('service/dist/page/'))).mount(app)
    const get = (path: string) => app.inject({ url: `/stage/embed/${path}` })
    const old = await get(`${today}/benefit-enrolment.js`)
    expect(old.statusCode).toBe(200)
    expect(old.rawPayload).toEqual(released)
    expect(old.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
    })
    const newer = await get('99.5.0/benefit-enrolment.js')
    expect(newer.statusCode).toBe(200)
    expect(newer.rawPayload).not.toEqual(released)
    expect((await get('')).json()).toEqual({
      version: '99.5.0',
      path: '/stage/embed/99.5.0/benefit-enrolment.js',
      integrity: integrityOf(newer.rawPayload),
    })
    for (const path of ['0.0.9/benefit-enrolment.js', `${today}/${today}.js`, `${today}/manifest.json`, 'x'])
      expect((await get(path)).statusCode).not.toBe(200)
    await app.close()
  })

  test('is never released anew with other bytes under the same version', () => {
    const before = readFileSync(at('embed/released/99.5.0.js'))
    change('embed/src/errors.ts', 'Nothing is lost.', 'Nothing at all is lost.')
    build()
    const { status, stderr } = run('scripts/integrity.mjs', '--release')
    expect(status).toBe(1)
    expect(stderr).toMatch(/^99\.5\.0 was released with other bytes and stays as it was: raise the version/)
    expect(readFileSync(at('embed/released/99.5.0.js'))).toEqual(before)
  })
})
