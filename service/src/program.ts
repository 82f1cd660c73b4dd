import { type CommandGroup, type Program, valued } from '@benefit-enrolment/command'
import { EmbeddedPostgresError } from '@benefit-enrolment/embedded-postgres/error'
import { failureOf } from './db/failure.ts'
import { describeCause } from './log.ts'
import { serviceVersion } from './version.ts'

const groups: readonly CommandGroup[] = [
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
  { words: ['import'], load: async () => [(await import('./cli/operator/import.ts')).importMembers] },
  { words: ['user'], load: async () => (await import('./cli/operator/user.ts')).userCommands },
  {
    words: ['backup', 'restore', 'resume'],
    load: async () => (await import('./cli/backup.ts')).backupCommands,
  },
  { words: ['cell'], load: async () => (await import('./cli/cell.ts')).cellCommands },
  { words: ['copy'], load: async () => [(await import('./cli/copy.ts')).copy] },
  { words: ['operator'], load: async () => (await import('./cli/operator/operator.ts')).operatorCommands },
  { words: ['audit'], load: async () => (await import('./cli/operator/audit.ts')).auditCommands },
  {
    words: ['listen', 'trigger', 'link', 'people'],
    load: async () => (await import('@benefit-enrolment/cli')).partnerTools,
  },
  {
    words: ['doctor'],
    load: async () => [(await import('./cli/operator/doctor.ts')).doctor],
  },
  {
    words: ['statement'],
    load: async () => (await import('./cli/partner/statement.ts')).statementCommands,
  },
  { words: ['clock'], load: async () => (await import('./cli/sandbox/clock.ts')).clockCommands },
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
    'Each command takes --data DIR (the embedded database, default ./data), --json and --help.',
    'DATABASE_URL takes precedence over --data. `enrolment --version` prints the version.',
  ],
  async failed(error) {
    const sentence = error instanceof EmbeddedPostgresError ? error.message : await explainDatabase(error)
    if (sentence !== undefined) return { text: sentence, code: 1 }
    return { text: JSON.stringify({ event: 'failed', ...describeCause(error) }), code: 70 }
  },
}
