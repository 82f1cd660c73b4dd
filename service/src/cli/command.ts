import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { OperatorError } from '../operator-error.ts'
import { writeAnswer } from './standard-streams.ts'

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

/** One command of the operator. */
export type Command = {
  /** The command's words, for example `partner create`. */
  readonly name: string
  readonly arguments?: readonly string[]
  readonly summary: string
  readonly options?: Readonly<Record<string, Option>>
  readonly run: (input: Input) => Promise<void>
}

/** The operator's input. */
export type Input = {
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

/** The options that every command has. */
const everyOption: Readonly<Record<string, Option>> = {
  data: valued('DIR', 'directory of the embedded database and the keys (default ./data)'),
  json: flag('answer with one JSON object'),
  help: flag('show this help'),
}

/** Words that are no valid command line: the command prints the message and exits with 2. */
export class UsageError extends OperatorError {
  override name = 'UsageError'
}

/** The value of a required option. Throws UsageError when it is missing or blank. */
export function neededText(input: Input, name: string): string {
  const value = input.text(name)
  if (!value?.trim()) throw new UsageError(`--${name} is needed; see --help.`)
  return value
}

/** The options with which a command takes a secret: from a file, from standard input, or on the command line. */
export function secretOptions(name: string, what: string): Readonly<Record<string, Option>> {
  return {
    [name]: valued(name.toUpperCase(), `${what}; better in a file, as others can see it here`),
    [`${name}-file`]: valued('FILE', `file that holds the ${what}; - is standard input`),
  }
}

const MOST_SECRET_BYTES = 4096

/** A secret that a command needs. Throws UsageError when it is missing or given twice. */
export function neededSecret(input: Input, name: string): string {
  return givenSecret(input, name) ?? neededText(input, name)
}

/**
 * A secret of a command, without the line break at the end of its file; `undefined` when it is not given. On the command
 * line every user of the machine can read it, and the shell stores it, so standard error warns. Throws UsageError when it
 * is given twice.
 */
export function givenSecret(input: Input, name: string): string | undefined {
  const file = input.text(`${name}-file`)
  const plain = input.text(name)
  if (file !== undefined && plain !== undefined)
    throw new UsageError(`Give --${name} or --${name}-file, not both; see --help.`)
  if (file === undefined) {
    if (!plain) return undefined
    process.stderr.write(
      `--${name} can be read by others on this machine and stays in the history of your shell: use --${name}-file FILE, or --${name}-file - for standard input.\n`,
    )
    return plain
  }
  const bytes = readGiven(file === '-' ? 0 : file, `The file of --${name}-file`)
  if (!isUtf8(bytes)) throw new OperatorError(`The file of --${name}-file is not UTF-8.`)
  const value = bytes.toString('utf8').replace(/\r?\n$/, '')
  if (value === '' || /[\r\n]/.test(value) || value.length > MOST_SECRET_BYTES)
    throw new OperatorError(`The file of --${name}-file must hold one line: the secret.`)
  return value
}

/** The bytes of a file that the operator named; `what` is how a refusal names it. Throws OperatorError. */
export function readGiven(path: string | 0, what: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new OperatorError(`${what} cannot be read (${(error as { code?: string }).code ?? 'unknown'}).`)
  }
}

/** An option whose value is one of a few words; `undefined` when it is not given. Throws UsageError on another word. */
export function choiceOf<T extends string>(input: Input, name: string, choices: readonly T[]): T | undefined {
  const value = input.text(name)
  const choice = choices.find(one => one === value)
  if (value !== undefined && choice === undefined)
    throw new UsageError(`--${name} must be ${eitherOf(choices)}; see --help.`)
  return choice
}

function eitherOf(choices: readonly string[]): string {
  return choices.join(', ').replace(/, (?!.*, )/, ' or ')
}

/** Reads the words after a command's name. Throws UsageError with a sentence when they do not fit. */
export function readInput(
  command: Command,
  words: readonly string[],
  environment: Input['environment'],
): Input {
  const options = { ...command.options, ...everyOption }
  const parsed = parse(command, words, options)
  const named = command.arguments ?? []
  const wanted = named.filter(name => !name.startsWith('['))
  if (parsed.positionals.length < wanted.length && parsed.values['help'] !== true) {
    throw new UsageError(`\`enrolment ${command.name}\` needs ${wanted.join(' and ')}; see --help.`)
  }
  if (parsed.positionals.length > named.length) {
    throw new UsageError(`\`enrolment ${command.name}\` takes no "${parsed.positionals.at(-1)}"; see --help.`)
  }
  const isJson = parsed.values['json'] === true
  if (isJson && parsed.values['csv'] === true)
    throw new UsageError('Give --csv or --json, not both; see --help.')
  return {
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
      writeAnswer(isJson ? `${JSON.stringify(data)}\n` : `${text}\n`)
    },
  }
}

function parse(command: Command, words: readonly string[], options: Readonly<Record<string, Option>>) {
  try {
    // It ignores what an option has for the help alone.
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (error) {
    const text = error instanceof Error ? error.message.split('. ')[0] : 'the options do not fit'
    throw new UsageError(`${text}; see \`enrolment ${command.name} --help\`.`)
  }
}

/** The name of a command with its arguments. */
export function usageOf({ name, arguments: named = [] }: Command): string {
  return [name, ...named].join(' ')
}

/** The help of one command. */
export function helpOf(command: Command): string {
  const rows = Object.entries({ ...command.options, ...everyOption }).map(([name, option]) => {
    const value = option.value ? ` ${option.value}` : ''
    return [`  --${name}${value}`, option.help + (option.multiple ? ' (repeatable)' : '')] as const
  })
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  return [
    `enrolment ${usageOf(command)} [options]`,
    '',
    command.summary,
    '',
    'Options:',
    ...rows.map(([left, right]) => left.padEnd(width) + right),
  ].join('\n')
}
