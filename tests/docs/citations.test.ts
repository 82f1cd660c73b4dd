import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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
