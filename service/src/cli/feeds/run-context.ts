import { join } from 'node:path'
import { UsageError } from '@benefit-enrolment/command'
import { openPublished } from '../../catalogue/published.ts'
import type { RunContext } from '../../feeds/make-run.ts'
import type { FeedPlaces } from '../../feeds/run.ts'
import type { ExecutorContext } from '../../membership/command.ts'
import { openTerms } from '../../membership/reading/open-terms.ts'
import { partnerOf } from '../../partners/keys.ts'
import { clockOn } from '../../partners/partner.ts'
import { listPartners } from '../../partners/store.ts'
import type { Workspace } from '../workspace.ts'

/** What runs and answers need, in a command. */
export function runContext(
  workspace: Pick<Workspace, 'database' | 'real' | 'keyring' | 'installation'>,
): RunContext & ExecutorContext {
  const { database, real, keyring, installation } = workspace
  const published = openPublished({ database, real })
  return {
    database,
    clock: clockOn(real),
    ...openTerms({ published, real }),
    sandbox: installation.sandbox,
    // A running service looks for what was written by itself.
    onEvents: () => {},
    onWritten: () => {},
    published,
    partners: async () => (await listPartners(database)).map(row => partnerOf(row, keyring)),
  }
}

/** Where the files of feeds go; in a sandbox below its data unless a setting says otherwise. */
export function placesOf({
  config,
  dataDir,
  installation,
}: Pick<Workspace, 'config' | 'dataDir' | 'installation'>): FeedPlaces {
  const ownFolder =
    installation.sandbox && config.databaseUrl === undefined ? join(dataDir, 'feeds') : undefined
  return { folder: config.feeds ?? ownFolder, command: config.feedCommand }
}

/** The number of a run or a line. Throws UsageError for anything else. */
export function runNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError('A run and a line are numbers, such as 7; see --help.')
}
