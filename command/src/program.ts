import { setImmediate } from 'node:timers/promises'
import { type Belonging, type Command, helpOf, type Input, readInput, usageOf } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'
import { bearClosedStreams, checkAnswerWritten, printable, writeAnswer } from './standard-streams.ts'

/** Commands by their first words; only the called group is loaded, because most commands need little of a program. */
export type CommandGroup = {
  readonly words: readonly string[]
  /** The heading below which the overview has it; without any the overview lists each command with its summary. */
  readonly section?: string
  readonly load: () => Promise<readonly Command[]>
}

/** A program of many commands. */
export type Program = Belonging & {
  readonly title: string
  readonly version: string
  readonly groups: readonly CommandGroup[]
  /** The last lines of the overview of its commands. */
  readonly notes: readonly string[]
  /** What the program says of an error that no command explains, and its exit code. */
  readonly failed: (error: unknown) => Promise<{ text: string; code: number }>
}

/** Runs the command line of this process; its exit code is 0 when done, 1 when refused, 2 when not understood, else a fault. */
export function startProgram(program: Program): void {
  // The exit code until the command has ended: Node.js exits early when nothing is left that it waits for, which is a fault.
  process.exitCode = 70
  bearClosedStreams()
  void runProgram(program, process.argv.slice(2), process.env).then(code => {
    process.exitCode = code
  })
}

/** Runs a command line to its end in this process, and returns its exit code. */
export async function runProgram(
  program: Program,
  words: readonly string[],
  environment: Input['environment'],
): Promise<number> {
  try {
    return await run(program, words, environment)
  } catch (error) {
    const { text, code } =
      error instanceof CommandError
        ? { text: error.message, code: error instanceof UsageError ? 2 : 1 }
        : await program.failed(error)
    process.stderr.write(`${printable(text)}\n`)
    return code
  }
}

async function run(
  program: Program,
  words: readonly string[],
  environment: Input['environment'],
): Promise<number> {
  const [first] = words
  if (first === undefined) return notUnderstood(await overview(program))
  const isAsking = ['--help', '-h', 'help', '--version'].includes(first)
  const found = isAsking ? undefined : await find(program, words)
  if (!isAsking && !found && !words.includes('--help')) {
    const named = words.slice(0, 2).filter(word => !word.startsWith('-'))
    return notUnderstood(
      `There is no command "${named.join(' ') || first}".\n\n${await overview(program, first)}`,
    )
  }
  if (first === '--version') writeAnswer(`${program.version}\n`)
  else if (!found) writeAnswer(`${await overview(program, isAsking ? undefined : first)}\n`)
  else if (found.words.includes('--help')) writeAnswer(`${helpOf(program, found.command)}\n`)
  else {
    const { command, words: rest } = found
    await command.run(readInput(program, command, { words: rest, environment }))
  }
  // Node.js reports a failed write after the current turn.
  await setImmediate()
  checkAnswerWritten()
  return 0
}

/** The command that the words begin with, and the words after its name. */
async function find(
  program: Program,
  words: readonly string[],
): Promise<{ command: Command; words: readonly string[] } | undefined> {
  for (const command of await load(groupsOf(program, words[0]))) {
    const name = command.name.split(' ')
    if (name.every((word, index) => words[index] === word))
      return { command, words: words.slice(name.length) }
  }
  return undefined
}

/** All commands, or those whose name begins with the given word. */
async function overview(program: Program, word?: string): Promise<string> {
  const near = groupsOf(program, word)
  if (near.length === 0 && program.groups.some(({ section }) => section !== undefined)) {
    const sections = [...new Set(program.groups.map(({ section }) => section ?? ''))]
    const rows = await Promise.all(sections.map(section => sectionOf(program, section)))
    const call = `\`${program.name} WORD --help\` says more of the commands that begin with a word.`
    return [`${program.name}: ${program.title}`, '', ...rows.flat(), '', call, ...program.notes].join('\n')
  }
  const commands = await load(near.length > 0 ? near : program.groups)
  const shown = commands.filter(command => command.name.startsWith(`${word} `))
  const listed = shown.length > 0 ? shown : commands
  return [
    `${program.name}: ${program.title}`,
    '',
    'Commands:',
    ...inColumns(listed.map(command => [usageOf(command), command.summary])),
    '',
    ...program.notes,
  ].join('\n')
}

/** A section of the overview: a command of one word with its summary, and for others what may follow their first word. */
async function sectionOf({ groups }: Program, section: string): Promise<readonly string[]> {
  const commands = await load(groups.filter(group => group.section === section))
  const firsts = [...new Set(commands.map(({ name }) => name.split(' ', 1)[0] ?? ''))]
  const rows = firsts.map((first): readonly [string, string] => {
    const alone = commands.find(({ name }) => name === first)
    if (alone) return [usageOf(alone), alone.summary]
    const longer = commands.filter(({ name }) => name.startsWith(`${first} `))
    return [first, longer.map(({ name }) => name.slice(first.length + 1)).join(', ')]
  })
  return [section, ...inColumns(rows)]
}

function inColumns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`)
}

function groupsOf({ groups }: Program, word: string | undefined): readonly CommandGroup[] {
  return groups.filter(({ words }) => words.some(one => one === word))
}

async function load(groups: readonly CommandGroup[]): Promise<readonly Command[]> {
  return (await Promise.all(groups.map(group => group.load()))).flat()
}

function notUnderstood(text: string): number {
  process.stderr.write(`${text}\n`)
  return 2
}
