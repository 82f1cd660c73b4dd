import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'docs-static-'))
  execFileSync(process.execPath, ['scripts/docs-static.mjs', 'https://api.example.org/stage', folder], {
    cwd: root,
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function read(file: string): string {
  return readFileSync(join(folder, file), 'utf8')
}

test('the pages as files link to each other relatively, to sections that are there, and name the service in their samples', () => {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.html'),
  )
  expect(pages.length).toBeGreaterThan(80)
  const wrong: string[] = []
  for (const page of pages)
    for (const [, path = '', id] of read(page).matchAll(
      / (?:href|src)="(?!https?:)([^"#]*)(?:#([^"]+))?"/g,
    )) {
      const target = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(folder, target))) wrong.push(`${page}: ${path}`)
      else if (id !== undefined && !read(target).includes(` id="${id}"`)) wrong.push(`${page}: ${path}#${id}`)
    }
  expect(wrong).toEqual([])
  expect(read('swap.html')).toContain('https://api.example.org/stage/user/benefits/swap')
  expect(read('index.html')).not.toContain('api.example.org/stage/docs')
})

test('their search finds what the service finds, from files alone', async () => {
  const { search } = (await import(
    join(folder, 'search.js')
  )) as typeof import('../../service/src/docs/search.ts')
  const entries = JSON.parse(read('entries.json')) as Parameters<typeof search>[0]
  expect(search(entries, 'undo a swap')[0]?.path).toMatch(/^swap/)
})
