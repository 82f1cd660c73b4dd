import { setImmediate } from 'node:timers/promises'
import { EmbeddedPostgresError } from '@benefit-enrolment/embedded-postgres/error'
import { type Command, helpOf, readInput, UsageError, usageOf } from './cli/command.ts'
import { bearClosedStreams, checkAnswerWritten, writeAnswer } from './cli/standard-streams.ts'
import { failureOf } from './db/failure.ts'
import { describeCause } from './log.ts'
import { OperatorError } from './operator-error.ts'
import { serviceVersion } from './version.ts'

/**
 * Commands by their first words. Only the called command is loaded, because the whole service is many times larger than
 * what most commands need.
 */
const groups: readonly { words: readonly string[]; load: () => Promise<readonly Command[]> }[] = [
  { words: ['dev'], load: async () => [(await import('./cli/sandbox/dev.ts')).dev] },
  { words: ['serve'], load: async () => [(await import('./cli/serve.ts')).serve] },
  { words: ['console'], load: async () => [(await import('./cli/console.ts')).runConsole] },
  { words: ['feed'], load: async () => (await import('./cli/feeds/feed.ts')).feedCommands },
  { words: ['migrate'], load: async () => [(await import('./cli/migrate.ts')).migrateSchema] },
  { words: ['maintain'], load: async () => [(await import('./cli/maintain.ts')).maintain] },
  {
    words: ['partner', 'key'],
    load: async () => [
      ...(await import('./cli/partner/partner.ts')).partnerCommands,
      ...(await import('./cli/partner/partner-leaving.ts')).partnerLeavingCommands,
    ],
  },
  { words: ['keyring'], load: async () => (await import('./cli/keys/keyring.ts')).keyringCommands },
  {
    words: ['catalogue'],
    load: async () => (await import('./cli/catalogue/catalogue.ts')).catalogueCommands,
  },
  { words: ['webhook'], load: async () => (await import('./cli/partner/webhook.ts')).webhookCommands },
  {
    words: ['deliveries', 'replay'],
    load: async () => (await import('./cli/partner/deliveries.ts')).deliveryCommands,
  },
  { words: ['users'], load: async () => (await import('./cli/operator/users.ts')).usersCommands },
  { words: ['import'], load: async () => [(await import('./cli/operator/import.ts')).importMembers] },
  { words: ['events'], load: async () => (await import('./cli/partner/events.ts')).eventCommands },
  { words: ['user'], load: async () => (await import('./cli/operator/user.ts')).userCommands },
  {
    words: ['backup', 'restore', 'resume'],
    load: async () => (await import('./cli/backup.ts')).backupCommands,
  },
  { words: ['copy'], load: async () => [(await import('./cli/copy.ts')).copy] },
  { words: ['operator'], load: async () => (await import('./cli/operator/operator.ts')).operatorCommands },
  { words: ['audit'], load: async () => (await import('./cli/operator/audit.ts')).auditCommands },
  {
    words: ['listen', 'trigger', 'doctor', 'link', 'people'],
    load: async () => (await import('./cli/partner-side/tools.ts')).partnerTools,
  },
  {
    words: ['statement'],
    load: async () => (await import('./cli/partner/statement.ts')).statementCommands,
  },
  { words: ['clock'], load: async () => (await import('./cli/sandbox/clock.ts')).clockCommands },
]

function groupsOf(word: string | undefined) {
  return groups.filter(({ words }) => words.some(one => one === word))
}

async function load(wanted: typeof groups): Promise<readonly Command[]> {
  return (await Promise.all(wanted.map(group => group.load()))).flat()
}

/** All commands, or those whose name begins with the given word. */
async function overview(word?: string): Promise<string> {
  const near = groupsOf(word)
  const commands = await load(near.length > 0 ? near : groups)
  const shown = commands.filter(command => command.name.startsWith(`${word} `))
  const listed = shown.length > 0 ? shown : commands
  const width = Math.max(...listed.map(command => usageOf(command).length)) + 2
  return [
    'enrolment: the Benefit Enrolment Integration Service',
    '',
    'Commands:',
    ...listed.map(command => `  ${usageOf(command).padEnd(width)}${command.summary}`),
    '',
    'Each command takes --data DIR (the embedded database, default ./data), --json and --help.',
    'DATABASE_URL takes precedence over --data. `enrolment --version` prints the version.',
  ].join('\n')
}

/** The command that the words begin with, and the words after its name. */
async function find(
  words: readonly string[],
): Promise<{ command: Command; rest: readonly string[] } | undefined> {
  for (const command of await load(groupsOf(words[0]))) {
    const name = command.name.split(' ')
    if (name.every((word, index) => words[index] === word)) return { command, rest: words.slice(name.length) }
  }
  return undefined
}

/** Runs one command line and returns the exit code: 0 done, 1 refused with a sentence, 2 not understood. */
async function run(words: readonly string[]): Promise<number> {
  const [first] = words
  if (first === undefined) return notUnderstood(await overview())
  const isAsking = ['--help', '-h', 'help', '--version'].includes(first)
  const found = isAsking ? undefined : await find(words)
  if (!isAsking && !found && !words.includes('--help')) {
    const named = words.slice(0, 2).filter(word => !word.startsWith('-'))
    return notUnderstood(`There is no command "${named.join(' ') || first}".\n\n${await overview(first)}`)
  }
  if (first === '--version') writeAnswer(`${serviceVersion}\n`)
  else if (!found) writeAnswer(`${await overview(isAsking ? undefined : first)}\n`)
  else if (found.rest.includes('--help')) writeAnswer(`${helpOf(found.command)}\n`)
  else await found.command.run(readInput(found.command, found.rest, process.env))
  // Node.js reports a failed write after the current turn.
  await setImmediate()
  checkAnswerWritten()
  return 0
}

function notUnderstood(text: string): number {
  process.stderr.write(`${text}\n`)
  return 2
}

/** Runs the command line of this process, and tells what went wrong: a sentence for the operator, or the error as a line of the log. */
async function main(): Promise<number> {
  try {
    return await run(process.argv.slice(2))
  } catch (error) {
    if (error instanceof OperatorError || error instanceof EmbeddedPostgresError) {
      process.stderr.write(`${error.message}\n`)
      return error instanceof UsageError ? 2 : 1
    }
    const sentence = await explainDatabase(error)
    if (sentence !== undefined) {
      process.stderr.write(`${sentence}\n`)
      return 1
    }
    process.stderr.write(`${JSON.stringify({ event: 'failed', ...describeCause(error) })}\n`)
    return 70
  }
}

/**
 * What PostgreSQL reports of itself, such as a full disk, or that it no longer answers, as a sentence; `undefined` for
 * any other error.
 */
async function explainDatabase(error: unknown): Promise<string | undefined> {
  const { code } = error as { code?: unknown }
  // Codes of PostgreSQL; those of files and of other connections look otherwise. Its driver's own time-outs have none.
  const isOfDatabase = typeof code === 'string' ? /^\d[0-9A-Z]{4}$/.test(code) : failureOf(error).unavailable
  if (!isOfDatabase) return undefined
  // Loaded only here, because it brings the driver of the database along.
  const { explainConnection } = await import('./db/connection-check.ts')
  return explainConnection(error)
}

// The exit code until the command has ended: Node.js exits early when nothing is left that it waits for, which is a fault.
process.exitCode = 70
bearClosedStreams()
void main().then(code => {
  process.exitCode = code
})
