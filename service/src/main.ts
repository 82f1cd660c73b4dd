import { catalogueCommands } from './commands/catalogue.ts'
import { clockCommands } from './commands/clock.ts'
import { type Command, helpOf, readInput, UsageError } from './commands/command.ts'
import { deliveryCommands } from './commands/deliveries.ts'
import { dev } from './commands/dev.ts'
import { keyringCommands } from './commands/keyring.ts'
import { partnerCommands } from './commands/partner.ts'
import { migrateSchema, serve } from './commands/serve.ts'
import { userCommands } from './commands/user.ts'
import { webhookCommands } from './commands/webhook.ts'
import { describeCause } from './http/server.ts'
import { OperatorError } from './operator-error.ts'

const commands: readonly Command[] = [
  dev,
  serve,
  migrateSchema,
  ...partnerCommands,
  ...keyringCommands,
  ...catalogueCommands,
  ...webhookCommands,
  ...deliveryCommands,
  ...userCommands,
  ...clockCommands,
]

/** All commands, or those whose name begins with the given word. */
const overview = (group?: string): string => {
  const shown = commands.filter(command => command.name.startsWith(`${group} `))
  const listed = shown.length > 0 ? shown : commands
  const width = Math.max(...listed.map(command => [command.name, ...command.arguments].join(' ').length)) + 2
  return [
    'enrolment: the Benefit Enrolment Integration Service',
    '',
    'Commands:',
    ...listed.map(
      command => `  ${[command.name, ...command.arguments].join(' ').padEnd(width)}${command.summary}`,
    ),
    '',
    'Each command takes --data DIR (the embedded database, default ./data), --json and --help.',
    'DATABASE_URL names another database and wins.',
  ].join('\n')
}

/** The command that the words begin with, and the words after its name. */
const find = (words: readonly string[]): { command: Command; rest: readonly string[] } | undefined => {
  for (const command of commands) {
    const name = command.name.split(' ')
    if (name.every((word, index) => words[index] === word)) return { command, rest: words.slice(name.length) }
  }
  return undefined
}

/** Runs one command line; gives the exit code: 0 done, 1 refused with a sentence, 2 not understood. */
const run = async (words: readonly string[]): Promise<number> => {
  if (words.length === 0 || words[0] === '--help' || words[0] === '-h' || words[0] === 'help') {
    process.stdout.write(`${overview()}\n`)
    return words.length === 0 ? 2 : 0
  }
  const found = find(words)
  if (!found && words.includes('--help')) {
    process.stdout.write(`${overview(words[0])}\n`)
    return 0
  }
  if (!found) {
    const named = words.slice(0, 2).filter(word => !word.startsWith('-'))
    process.stderr.write(`There is no command "${named.join(' ')}".\n\n${overview()}\n`)
    return 2
  }
  if (found.rest.includes('--help')) {
    process.stdout.write(`${helpOf(found.command)}\n`)
    return 0
  }
  await found.command.run(readInput(found.command, found.rest, process.env))
  return 0
}

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  if (error instanceof OperatorError) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  } else {
    process.stderr.write(`${JSON.stringify({ event: 'failed', ...describeCause(error) })}\n`)
    process.exitCode = 70
  }
}
