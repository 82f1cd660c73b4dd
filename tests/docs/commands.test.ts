import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { type Command, helpOf, valued } from '../../command/src/command.ts'

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
  for (const file of files.filter(path =>
    /^(?:service\/src\/cli|cli\/src)\/(?!main\.)[^.]+\.ts$/.test(path),
  )) {
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

type Surface = Readonly<Record<string, { readonly arguments?: unknown }>>

function argumentsOf(surface: Surface, command: string): string[] {
  return Object.values((surface[command]?.arguments ?? {}) as Readonly<Record<string, string>>)
}

/** What a command line may rely on: each command's arguments, and each of its options with its kind; and the settings. */
function surface(): Surface {
  const shown = [...commands.values()].map(command => {
    const options = Object.entries(command.options ?? {}).map(([name, { type, multiple = false }]) => [
      `--${name}`,
      `${type}${multiple ? ', several times' : ''}`,
    ])
    return [command.name, { arguments: { ...command.arguments }, options: Object.fromEntries(options) }]
  })
  const operating = readFileSync(`${root}docs/operating.md`, 'utf8')
  const settings = [...operating.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|/gm)].flatMap(([, names = '']) =>
    names.split(', ').map(name => [name.replaceAll('`', ''), true]),
  )
  return { ...Object.fromEntries(shown), settings: Object.fromEntries(settings) }
}

test('each command, option and setting that was released is there, of the same kind, and needs no further argument', () => {
  const folder = `${root}tests/releases/`
  const { WRITE_RELEASE: written } = process.env
  const today = surface()
  if (written !== undefined)
    writeFileSync(`${folder}${written}/commands.json`, `${JSON.stringify(today, undefined, 1)}\n`)
  const releases = readdirSync(folder).filter(name => existsSync(`${folder}${name}/commands.json`))
  for (const release of releases) {
    const released = JSON.parse(readFileSync(`${folder}${release}/commands.json`, 'utf8')) as Surface
    expect(today).toMatchObject(released)
    for (const name of Object.keys(released)) {
      const later = argumentsOf(today, name).slice(argumentsOf(released, name).length)
      expect([name, ...later.filter(argument => !argument.startsWith('['))]).toEqual([name])
    }
  }
})
