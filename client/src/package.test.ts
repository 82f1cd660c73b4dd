import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { operations } from '@benefit-enrolment/contract'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { createClient } from './index.ts'

const folder = join(import.meta.dirname, '..')

const bundle = async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(folder, 'src/index.ts')],
    ...{ bundle: true, minify: true, format: 'esm', write: false, metafile: true },
  })
  const code = outputFiles?.[0]?.contents ?? new Uint8Array()
  return { code, inputs: Object.keys(metafile?.inputs ?? {}) }
}

test('the whole client is smaller than 12 kB, minified and gzipped, and needs no other package', async () => {
  const { code, inputs } = await bundle()
  expect(code.length).toBeGreaterThan(1_000)
  expect(gzipSync(code).length).toBeLessThan(12_000)
  expect(inputs.every(path => path.includes('client/src/'))).toBe(true)
  expect(inputs.some(path => path.endsWith('drift.ts'))).toBe(false)
})

test('what is published names neither the contract nor its schema library', () => {
  const packed = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as { files: { path: string }[] }[]
  const paths = packed[0]?.files.map(file => file.path) ?? []
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'dist/index.js', 'dist/index.d.ts']))
  for (const path of paths.filter(name => /\.(js|d\.ts)$/.test(name))) {
    expect(readFileSync(join(folder, path), 'utf8'), path).not.toMatch(/typebox|enrolment\/contract/)
  }
})

test('there is a method for every operation that a partner calls, and no other', () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', clientId: 'id', clientSecret: 'secret' })
  const declared = Object.values(operations).filter(operation => operation.caller === 'partner')
  expect(Object.keys(client).sort()).toEqual(declared.map(operation => operation.id).sort())
})
