import { type Command, dataDirOf, type Input } from '@benefit-enrolment/command'
import { backUpDatabase, restoreDatabase, withDatabase } from '@benefit-enrolment/embedded-postgres'
import { type Config, readConfig } from '../config.ts'
import { openDatabase } from '../db/database.ts'
import { OperatorError } from '../operator-error.ts'
import { makeQuiet, resume } from '../quiet.ts'
import { lackingBeside, noteMaking } from './making-copies.ts'
import { reach } from './reach.ts'
import { hasDatabase, onDatabase } from './workspace.ts'

const backup: Command = {
  name: 'backup',
  arguments: ['DIR'],
  summary:
    'Copy the embedded database into the new directory DIR, while the service runs or not; the keys are not in it.',
  run: async input => {
    const config = embeddedOnly(input)
    const dataDir = dataDirOf(input)
    if (!(await hasDatabase(input)))
      throw new OperatorError(`There is no database in ${dataDir}: name its directory with --data.`)
    const [into = ''] = input.positionals
    const { startedAt, endedAt, files } = await withDatabase({ dataDir }, async address => {
      const note = (result: string, at: number) => noteMaking(address, { action: 'backup', result, at })
      await note('begun', Date.now())
      const made = await backUpDatabase({ dataDir, address, into }).catch(async error => {
        await note('failed', Date.now())
        throw error
      })
      await note('done', Date.parse(made.endedAt))
      return made
    })
    const bytes = files.reduce((sum, file) => sum + file.size, 0)
    input.print({ directory: into, startedat: startedAt, endedat: endedAt, files: files.length, bytes }, [
      `backed up to ${into}: ${files.length} files, ${Math.ceil(bytes / 2 ** 20)} MiB, each read back and compared`,
      config.rootKey === undefined
        ? `The keys are not in it: keep ${dataDir}/keyring.json somewhere else, and the list of erasures with it.`
        : 'The keys are not in it: keep ENROLMENT_ROOT_KEY somewhere else, and the list of erasures with it.',
    ])
  },
}

const restore: Command = {
  name: 'restore',
  arguments: ['DIR'],
  summary: 'Restore a backup into a data directory without a database; the restored copy is quiet.',
  run: async input => {
    const config = embeddedOnly(input)
    const dataDir = dataDirOf(input)
    const [from = ''] = input.positionals
    const { endedAt } = await restoreDatabase({
      dataDir,
      from,
      prepare: async address => {
        const database = openDatabase(address, { max: 1, onError: () => {}, statementTimeoutMs: 60_000 })
        try {
          await reach(database, 'bring up')
          // Before anybody can serve it, because the original may still be running, and its webhooks would be sent
          // twice.
          await makeQuiet(database, Date.now())
        } finally {
          await database.close()
        }
      },
    })
    input.print({ data: dataDir, restoredto: endedAt, quiet: true }, [
      `restored into ${dataDir} as of ${endedAt}`,
      ...lackingBeside(config, dataDir),
      'It is quiet: reads work, and nothing is written or sent until `enrolment resume`.',
    ])
  },
}

const resumeCopy: Command = {
  name: 'resume',
  summary: 'Let a quiet copy write, deliver and apply due changes, once the original has ended for good.',
  run: input =>
    // It starts the database where no service runs: `dev` could not start on a quiet one.
    onDatabase(input, { makes: false, starts: true }, async ({ database }) => {
      await reach(database, 'take')
      const wasQuiet = await resume(database)
      input.print({ resumed: wasQuiet }, [
        wasQuiet ? 'resumed: a running service follows within a second' : 'it was not quiet',
      ])
    }),
}

/** The settings, if the database is the embedded one. Throws OperatorError otherwise. */
function embeddedOnly(input: Input): Config {
  const config = readConfig(input.environment)
  if (config.databaseUrl !== undefined)
    throw new OperatorError(
      'This command is for the embedded database; for that of DATABASE_URL use pg_dump or pg_basebackup (docs/operating.md says how).',
    )
  return config
}

/** The commands that back up, restore and resume a database. */
export const backupCommands: readonly Command[] = [backup, restore, resumeCopy]
