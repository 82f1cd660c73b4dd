import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import {
  isErrorCode,
  keyedErrors,
  type Operation,
  operations,
  partnerErrors,
} from '@benefit-enrolment/contract'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { createClient } from './index.ts'

const folder = join(import.meta.dirname, '..')

const partnerOperations = (Object.values(operations) as Operation[]).filter(
  // Those that take and answer lines are no single calls.
  ({ caller, lines }) => caller === 'partner' && !lines,
)

async function bundle() {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(folder, 'src/index.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    metafile: true,
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
  expect(Object.keys(client).sort()).toEqual(partnerOperations.map(operation => operation.id).sort())
})

test('the comment of each method names exactly the refusals of its operation that not every one has', () => {
  const source = readFileSync(join(folder, 'src/generated.ts'), 'utf8')
  // The second line: codes that the client itself prevents, and those that an operation declares by leaving them out.
  const everywhere = new Set<string>([...partnerErrors, ...keyedErrors])
  for (const code of ['idempotency_key_missing', 'unsupported_version', 'not_found']) everywhere.add(code)
  for (const { id, errors } of partnerOperations) {
    const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s+${id}\\(`).exec(source)?.[1] ?? ''
    const named = [...comment.matchAll(/`(\w+)`/g)].flatMap(match => match[1] ?? []).filter(isErrorCode)
    const without = (codes: readonly string[]) => codes.filter(code => !everywhere.has(code)).sort()
    expect(without(named), id).toEqual(without(errors))
  }
})
