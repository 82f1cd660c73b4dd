import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { type Input, type Option, valued } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'

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
      `--${name} can be read by others on this machine and stays in the history of your shell: ` +
        `use --${name}-file FILE, or --${name}-file - for standard input.\n`,
    )
    return plain
  }
  const bytes = readGiven(file === '-' ? 0 : file, `The file of --${name}-file`)
  if (!isUtf8(bytes)) throw new CommandError(`The file of --${name}-file is not UTF-8.`)
  const value = bytes.toString('utf8').replace(/\r?\n$/, '')
  if (value === '' || /[\r\n]/.test(value) || value.length > MOST_SECRET_BYTES)
    throw new CommandError(`The file of --${name}-file must hold one line: the secret.`)
  return value
}

/** The bytes of a file that the operator named; `what` is how a refusal names it. Throws CommandError. */
export function readGiven(path: string | 0, what: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new CommandError(`${what} cannot be read (${(error as { code?: string }).code ?? 'unknown'}).`)
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
