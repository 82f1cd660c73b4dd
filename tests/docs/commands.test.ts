import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { type Command, helpOf, valued } from '../../cli/src/command.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files'], {
  cwd: root,
  encoding: 'utf8',
}).split('\n')

/** Of `enrolment`, whose commands take --data; of a partner's, only those that call the API do. */
const program = { name: '', options: { data: valued('DIR', '') } }

function isCommand(value: unknown): value is Command {
  return typeof value === 'object' && value !== null && 'summary' in value && 'run' in value
}

/** The commands by their names. */
const commands = new Map<string, Command>()
beforeAll(async () => {
  for (const file of files.filter(path => /^(?:service\/src\/cli|cli\/src)\/[^.]+\.ts$/.test(path))) {
    const exported = Object.values((await import(`${root}${file}`)) as object).flat()
    for (const command of exported.filter(isCommand)) commands.set(command.name, command)
  }
})

/** The lines of code of a document, in blocks and in sentences. */
function codeOf(markdown: string): string[] {
  return [...markdown.matchAll(/^```.*\n([\s\S]*?)^```|`([^`]+)`/gm)].flatMap(([, block, span]) =>
    block === undefined ? [(span ?? '').replaceAll('\n', ' ')] : block.split('\n'),
  )
}

/** What follows `enrolment` where a shell would look for a program, without comments and other commands behind it. */
function commandLineOf(code: string): string | undefined {
  return /(?:^|npx |bin\/|&& )(?:benefit-)?enrolment(?:\.js)? ([a-z][^#>]*)/.exec(code)?.[1]?.trim()
}

/** The commands that a line means: `partner create|list` means two, and `operator` alone all that begin with it. */
function meantBy(line: string): Command[] {
  const [first = '', second = ''] = line.split(/\s+/)
  const alone = commands.get(first)
  if (alone) return [alone]
  const names = second === '' ? [...commands.keys()].filter(name => name.startsWith(`${first} `)) : []
  const meant = [...names, ...second.split('|').map(word => `${first} ${word}`)]
  return meant.flatMap(name => commands.get(name) ?? [])
}

test('each command and option that a document names is there', () => {
  expect(commands.size).toBeGreaterThan(50)
  const wrong: string[] = []
  let found = 0
  for (const file of files.filter(path => path.endsWith('.md'))) {
    for (const code of codeOf(readFileSync(root + file, 'utf8'))) {
      const called = commandLineOf(code)
      // In the list of commands of docs/operating.md they stand without `enrolment`.
      const line = called ?? (/^[a-z]+ .*--[a-z]/.test(code) ? code : undefined)
      if (line === undefined) continue
      const meant = meantBy(line)
      found += meant.length
      if (meant.length === 0 && called !== undefined) wrong.push(`${file}: ${line}`)
      for (const [option] of line.matchAll(/(?<=\s\[?)--[a-z][a-z-]*/g))
        if (meant.some(command => !helpOf(program, command).includes(`  ${option} `)))
          wrong.push(`${file}: ${line}, ${option}`)
    }
  }
  expect(wrong).toEqual([])
  expect(found).toBeGreaterThan(100)
})
