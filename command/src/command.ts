import { parseArgs } from 'node:util'
import { UsageError } from './command-error.ts'
import { printable, writeAnswer } from './standard-streams.ts'

/** One option of a command. */
export type Option = {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  /** The placeholder for the value in the help, for example `DIR`. */
  readonly value?: string
  readonly help: string
}

/** An option with a value; the help calls it `value`. */
export function valued(value: string, help: string): Option {
  return { type: 'string', value, help }
}

/** An option with a value that may be given several times. */
export function repeatable(value: string, help: string): Option {
  return { ...valued(value, help), multiple: true }
}

/** An option without a value. */
export function flag(help: string): Option {
  return { type: 'boolean', help }
}

/** One command. */
export type Command = {
  /** The command's words, for example `partner create`. */
  readonly name: string
  readonly arguments?: readonly string[]
  readonly summary: string
  readonly options?: Readonly<Record<string, Option>>
  readonly run: (input: Input) => Promise<void>
}

/** What was typed, and where. */
export type Input = {
  /** The name of the program, for sentences that name its other commands. */
  readonly program: string
  /** The command's name. */
  readonly command: string
  readonly positionals: readonly string[]
  /** The single value of an option, or `undefined`. */
  readonly text: (name: string) => string | undefined
  /** The values of a repeatable option. */
  readonly list: (name: string) => readonly string[]
  readonly flag: (name: string) => boolean
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Writes the answer: `data` as JSON with --json, else the lines. */
  readonly print: (data: unknown, lines: readonly string[]) => void
}

/** The program that a command belongs to, with the options of its own that every command takes. */
export type Belonging = { readonly name: string; readonly options: Readonly<Record<string, Option>> }

/** The options that every command of every program has. */
const everyOption: Readonly<Record<string, Option>> = {
  json: flag('answer with one JSON object'),
  help: flag('show this help'),
}

/** Reads the words after a command's name. Throws UsageError with a sentence when they do not fit. */
export function readInput(
  program: Belonging,
  command: Command,
  { words, environment }: { words: readonly string[]; environment: Input['environment'] },
): Input {
  const called = `${program.name} ${command.name}`
  const parsed = parse(called, words, { ...program.options, ...command.options, ...everyOption })
  const named = command.arguments ?? []
  const wanted = named.filter(name => !name.startsWith('['))
  if (parsed.positionals.length < wanted.length && parsed.values['help'] !== true) {
    throw new UsageError(`\`${called}\` needs ${wanted.join(' and ')}; see --help.`)
  }
  if (parsed.positionals.length > named.length) {
    throw new UsageError(`\`${called}\` takes no "${parsed.positionals.at(-1)}"; see --help.`)
  }
  const isJson = parsed.values['json'] === true
  if (isJson && parsed.values['csv'] === true)
    throw new UsageError('Give --csv or --json, not both; see --help.')
  return {
    program: program.name,
    command: command.name,
    positionals: parsed.positionals,
    text: name => {
      const value = parsed.values[name]
      return typeof value === 'string' ? value : undefined
    },
    list: name => {
      const value = parsed.values[name]
      return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []
    },
    flag: name => parsed.values[name] === true,
    environment,
    print: (data, lines) => {
      // An empty list looks like a command that did nothing.
      const text = lines.length > 0 ? lines.join('\n') : 'None.'
      writeAnswer(`${printable(isJson ? JSON.stringify(data) : text)}\n`)
    },
  }
}

function parse(called: string, words: readonly string[], options: Readonly<Record<string, Option>>) {
  try {
    // It ignores what an option has for the help alone.
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (error) {
    const text = error instanceof Error ? error.message.split('. ')[0] : 'the options do not fit'
    throw new UsageError(`${text}; see \`${called} --help\`.`)
  }
}

/** The name of a command with its arguments. */
export function usageOf({ name, arguments: named = [] }: Command): string {
  return [name, ...named].join(' ')
}

/** The help of one command. */
export function helpOf(program: Belonging, command: Command): string {
  const rows = Object.entries({ ...command.options, ...program.options, ...everyOption }).map(
    ([name, option]) => {
      const value = option.value ? ` ${option.value}` : ''
      return [`  --${name}${value}`, option.help + (option.multiple ? ' (repeatable)' : '')] as const
    },
  )
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  return [
    `${program.name} ${usageOf(command)} [options]`,
    '',
    command.summary,
    '',
    'Options:',
    ...rows.map(([left, right]) => left.padEnd(width) + right),
  ].join('\n')
}
