import { type CommandGroup, type Program, valued } from '@benefit-enrolment/command'
import { EmbeddedPostgresError } from '@benefit-enrolment/embedded-postgres/error'
import { failureOf } from './db/failure.ts'
import { describeCause } from './log.ts'
import { serviceVersion } from './version.ts'

const run = 'Run the service, and try it out'
const setUp = 'Partners, what they offer, and who may sign in'
const people = 'People, months, insurers'
const keep = 'The database, its keys, and the record'

const groups: readonly CommandGroup[] = [
  { section: run, words: ['dev'], load: async () => [(await import('./cli/sandbox/dev.ts')).dev] },
  { section: run, words: ['serve'], load: async () => [(await import('./cli/serve.ts')).serve] },
  { section: run, words: ['console'], load: async () => [(await import('./cli/console.ts')).runConsole] },
  {
    section: run,
    words: ['doctor'],
    load: async () => [(await import('./cli/operator/sign-in-check.ts')).doctor],
  },
  {
    section: run,
    words: ['clock'],
    load: async () => (await import('./cli/sandbox/clock.ts')).clockCommands,
  },
  {
    section: setUp,
    words: ['partner', 'key'],
    load: async () => [
      ...(await import('./cli/partner/partner.ts')).partnerCommands,
      ...(await import('./cli/partner/partner-leaving.ts')).partnerLeavingCommands,
    ],
  },
  {
    section: setUp,
    words: ['webhook'],
    load: async () => (await import('./cli/partner/webhook.ts')).webhookCommands,
  },
  {
    section: setUp,
    words: ['catalogue'],
    load: async () => (await import('./cli/catalogue/catalogue.ts')).catalogueCommands,
  },
  {
    section: setUp,
    words: ['operator'],
    load: async () => (await import('./cli/operator/operator.ts')).operatorCommands,
  },
  {
    section: people,
    words: ['import'],
    load: async () => [(await import('./cli/operator/import.ts')).importMembers],
  },
  {
    section: people,
    words: ['user'],
    load: async () => (await import('./cli/operator/user.ts')).userCommands,
  },
  {
    section: people,
    words: ['statement'],
    load: async () => (await import('./cli/partner/statement.ts')).statementCommands,
  },
  { section: people, words: ['feed'], load: async () => (await import('./cli/feeds/feed.ts')).feedCommands },
  {
    section: keep,
    words: ['migrate'],
    load: async () => [(await import('./cli/migrate.ts')).migrateSchema],
  },
  { section: keep, words: ['maintain'], load: async () => [(await import('./cli/maintain.ts')).maintain] },
  {
    section: keep,
    words: ['backup', 'restore', 'resume'],
    load: async () => (await import('./cli/backup.ts')).backupCommands,
  },
  { section: keep, words: ['copy'], load: async () => [(await import('./cli/copy.ts')).copy] },
  { section: keep, words: ['cell'], load: async () => (await import('./cli/cell.ts')).cellCommands },
  {
    section: keep,
    words: ['keyring'],
    load: async () => (await import('./cli/keys/keyring.ts')).keyringCommands,
  },
  {
    section: keep,
    words: ['audit'],
    load: async () => (await import('./cli/operator/audit.ts')).auditCommands,
  },
]

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

/** The program `enrolment`. */
export const enrolment: Program = {
  name: 'enrolment',
  title: 'the Benefit Enrolment Integration Service',
  version: serviceVersion,
  options: { data: valued('DIR', 'directory of the embedded database and the keys (default ./data)') },
  groups,
  notes: [
    '`benefit-enrolment` has what a partner runs: listen, trigger, link, people, doctor. Decisions about users are made at the console.',
    'Each command takes --data DIR (the embedded database, default ./data), --json and --help.',
    'DATABASE_URL takes precedence over --data. `enrolment --version` prints the version.',
  ],
  async failed(error) {
    const sentence = error instanceof EmbeddedPostgresError ? error.message : await explainDatabase(error)
    if (sentence !== undefined) return { text: sentence, code: 1 }
    return { text: JSON.stringify({ event: 'failed', ...describeCause(error) }), code: 70 }
  },
}
