import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const tracked = execFileSync(
  'git',
  ['-c', 'safe.directory=*', 'ls-files', '*.ts', '*.mjs', '*.md', '*.sql', '*.yaml', '*.css'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .trim()
  .split('\n')
function read(file: string) {
  return readFileSync(join(root, file), 'utf8')
}

/** The section numbers of a document, from its headings. */
function sectionsOf(file: string) {
  return new Set([...read(file).matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm)].map(([, number = '']) => number))
}

/** `contract §4, §5 and §7` names three sections. */
const citation = /\b(contract|interface) ((?:§\d+(?:\.\d+)?(?:–\d+)?(?:, | and )?)+)/g

const cited = tracked.flatMap(file =>
  [...read(file).matchAll(citation)].flatMap(([, document = '', list = '']) =>
    [...list.matchAll(/§(\d+(?:\.\d+)?)/g)].map(([, number = '']) => ({ file, document, number })),
  ),
)

test('each section that is cited stands in its document', () => {
  const sections = { contract: sectionsOf('docs/contract.md'), interface: sectionsOf('docs/interface.md') }
  expect(cited.length).toBeGreaterThan(200)
  const missing = cited.filter(
    ({ document, number }) => !sections[document as keyof typeof sections].has(number),
  )
  expect(missing).toEqual([])
})

test('each document that the code names is in the repository', () => {
  const names = tracked
    .filter(file => /\.(ts|mjs|sql)$/.test(file) && !/^(tests|scripts|bench)\//.test(file))
    .flatMap(file =>
      [...read(file).matchAll(/(?<![\w/.${}-])((?:docs\/)?[\w-]+\.md)\b/g)].map(([, name = '']) => ({
        file,
        name,
      })),
    )
  const known = new Set(tracked.flatMap(file => [file, file.split('/').at(-1) ?? '']))
  expect(names.filter(({ name }) => !known.has(name))).toEqual([])
})

/** The names by which a link reaches the headings of a document, on code hosting sites and in the docs of the service. */
function anchorsOf(file: string) {
  return [...read(file).matchAll(/^#{1,6} (.+)$/gm)].flatMap(([, heading = '']) => [
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
    `section-${/^[\d.]+\d/.exec(heading)?.[0]}`,
  ])
}

test('each link of a document leads to a file and to a heading in it', () => {
  const documents = tracked.filter(file => file.endsWith('.md'))
  const links = documents.flatMap(file =>
    [...read(file).matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)].map(([, link, image]) => ({
      file,
      to: link ?? image ?? '',
    })),
  )
  const wrong = links.filter(({ file, to }) => {
    // The build of the docs makes the pages of the reference and of the errors, and checks the links to them.
    if (/^(https?:|mailto:|\/|reference(\/|$)|errors\/)/.test(to)) return false
    const [path = '', anchor] = to.split('#')
    const target = path === '' ? file : join(dirname(file), path)
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor)
  })
  expect(wrong).toEqual([])
  expect(links.length).toBeGreaterThan(100)
})

test('each section of the contract, and what stands beside it, has tests, and each test belongs to one of them', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/promises.mjs'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(
    /^\| `tests\/faults\/commands\.test\.ts` \| .*a run that is killed at any point .*; of two processes one makes the run/m,
  )
})
