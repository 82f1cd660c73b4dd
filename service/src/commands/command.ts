import { parseArgs } from 'node:util'
import { OperatorError } from '../operator-error.ts'

/** One option of a command. */
export type Option = {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  /** What stands for the value in the help, for example `DIR`. */
  readonly value?: string
  readonly help: string
}

/** One command of the operator. */
export type Command = {
  /** Its words, for example `partner create`. */
  readonly name: string
  readonly arguments: readonly string[]
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  readonly run: (input: Input) => Promise<void>
}

/** What the operator typed. */
export type Input = {
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
export const everyOption: Readonly<Record<string, Option>> = {
  data: {
    type: 'string',
    value: 'DIR',
    help: 'directory of the embedded database and the keys (default ./data)',
  },
  json: { type: 'boolean', help: 'answer with one JSON object' },
  help: { type: 'boolean', help: 'show this help' },
}

/** Words that are no command line of ours: the command prints the message and exits 2. */
export class UsageError extends OperatorError {
  override name = 'UsageError'
}

/** An option that a command cannot do without. Throws UsageError where it is missing or empty. */
export const neededText = (input: Input, name: string): string => {
  const value = input.text(name)
  if (!value) throw new UsageError(`--${name} is needed; see --help.`)
  return value
}

/** An option that takes one of a few words; `undefined` where it is not given. Throws UsageError on another word. */
export const choiceOf = <T extends string>(
  input: Input,
  name: string,
  choices: readonly T[],
): T | undefined => {
  const value = input.text(name)
  const choice = choices.find(one => one === value)
  if (value !== undefined && choice === undefined)
    throw new UsageError(`--${name} must be ${eitherOf(choices)}; see --help.`)
  return choice
}

const eitherOf = (choices: readonly string[]): string => choices.join(', ').replace(/, (?!.*, )/, ' or ')

/** Reads the words after a command's name. Throws UsageError with a sentence when they do not fit. */
export const readInput = (
  command: Command,
  words: readonly string[],
  environment: Input['environment'],
): Input => {
  const options = { ...command.options, ...everyOption }
  const parsed = parse(command, words, options)
  const wanted = command.arguments.filter(name => !name.startsWith('['))
  if (parsed.positionals.length < wanted.length && parsed.values['help'] !== true) {
    throw new UsageError(`\`enrolment ${command.name}\` needs ${wanted.join(' and ')}; see --help.`)
  }
  if (parsed.positionals.length > command.arguments.length) {
    throw new UsageError(`\`enrolment ${command.name}\` takes no "${parsed.positionals.at(-1)}"; see --help.`)
  }
  const isJson = parsed.values['json'] === true
  return {
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
      process.stdout.write(isJson ? `${JSON.stringify(data)}\n` : `${lines.join('\n')}\n`)
    },
  }
}

const parse = (command: Command, words: readonly string[], options: Readonly<Record<string, Option>>) => {
  try {
    return parseArgs({
      args: [...words],
      options: Object.fromEntries(
        Object.entries(options).map(([name, option]) => [
          name,
          { type: option.type, ...(option.multiple ? { multiple: true } : {}) },
        ]),
      ),
      allowPositionals: true,
      strict: true,
    })
  } catch (error) {
    const text = error instanceof Error ? error.message.split('. ')[0] : 'the options do not fit'
    throw new UsageError(`${text}; see \`enrolment ${command.name} --help\`.`)
  }
}

/** The help of one command. */
export const helpOf = (command: Command): string => {
  const rows = Object.entries({ ...command.options, ...everyOption }).map(([name, option]) => {
    const value = option.value ? ` ${option.value}` : ''
    return [`  --${name}${value}`, option.help + (option.multiple ? ' (repeatable)' : '')] as const
  })
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  return [
    `enrolment ${[command.name, ...command.arguments].join(' ')} [options]`,
    '',
    command.summary,
    '',
    'Options:',
    ...rows.map(([left, right]) => left.padEnd(width) + right),
  ].join('\n')
}
