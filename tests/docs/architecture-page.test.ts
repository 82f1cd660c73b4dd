import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files'], {
  cwd: root,
  encoding: 'utf8',
}).split('\n')

function read(file: string): string {
  return readFileSync(`${root}/${file}`, 'utf8')
}

test.each(['ARCHITECTURE.md', 'docs/internals.md', 'CONTRIBUTING.md'])(
  '%s names only files that exist',
  document => {
    const named = [...read(document).matchAll(/`((?!X)[\w./-]+\.(?:ts|mjs|sh|html))`/g)].map(
      ([, name = '']) => name,
    )
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter(name => !files.some(file => file === name || file.endsWith(`/${name}`)))).toEqual([])
  },
)

test('ARCHITECTURE.md lists as many files of a request as it says, and each exists', () => {
  const [, block = ''] = /<!-- walk -->\n```\n([\s\S]*?)```/.exec(read('ARCHITECTURE.md')) ?? []
  const kinds = [...block.matchAll(/^\w+, (\d+)\n((?: {2}.*\n)+)/gm)]
  expect(kinds).toHaveLength(2)
  for (const [, count, lines = ''] of kinds) {
    const listed = lines
      .trimEnd()
      .split('\n')
      .flatMap(line => {
        const [folder, names = ''] = line.trim().split(': ')
        return names.split(' ').map(name => `service/src/${folder === '.' ? '' : `${folder}/`}${name}.ts`)
      })
    expect(listed).toHaveLength(Number(count))
    expect(listed.filter(file => !files.includes(file))).toEqual([])
  }
})

test('ARCHITECTURE.md says what each package is for that we depend on', () => {
  const packages = ['', 'contract/', 'client/', 'cli/', 'embed/', 'embedded-postgres/', 'service/'].flatMap(
    folder => {
      const { dependencies, devDependencies } = JSON.parse(read(`${folder}package.json`))
      return Object.keys({ ...dependencies, ...devDependencies })
    },
  )
  const ours = /^@benefit-enrolment\/|^@types\/|^react-dom$/
  const page = read('ARCHITECTURE.md').toLowerCase()
  const shortName = (name: string) => name.replace(/^@(?:biomejs|seriousme)\//, '')
  expect(packages.length).toBeGreaterThan(20)
  expect(packages.filter(name => !ours.test(name) && !page.includes(shortName(name)))).toEqual([])
})
