import type { Command } from '@benefit-enrolment/command'
import { formatTimestamp } from '../../calendar/calendar.ts'
import { describeDifference, differencesOf } from '../../catalogue/difference.ts'
import { type Catalogue, emptyCatalogue } from '../../catalogue/model.ts'
import { listPublications, readVersion } from '../../catalogue/published.ts'
import type { Database } from '../../db/database.ts'
import { OperatorError } from '../../operator-error.ts'
import { inWorkspace } from '../workspace.ts'
import { readCatalogueFile } from './catalogue-file.ts'

/** Lists the published versions. */
export const list: Command = {
  name: 'catalogue list',
  summary: 'List the published versions, newest first: when, and by whom.',
  run: input =>
    inWorkspace(input, async ({ database }) => {
      const versions = (await listPublications(database)).map(({ version, publishedAt, by }) => ({
        version,
        publishedat: formatTimestamp(publishedAt),
        by,
      }))
      input.print(
        { versions },
        versions.length > 0
          ? versions.map(({ version, publishedat, by }) => `${version}  ${publishedat}  by ${by}`)
          : ['Nothing is published yet.'],
      )
    }),
}

/** Shows how two versions differ, or a file and the newest version. */
export const diff: Command = {
  name: 'catalogue diff',
  arguments: ['FROM|FILE', '[TO]'],
  summary: 'Show how two versions differ, or the newest version and a file; each is a number or a file.',
  run: input =>
    inWorkspace(input, async ({ database }) => {
      const [first = '', second] = input.positionals
      const [newest] = await listPublications(database)
      const from = second === undefined ? String(newest?.version ?? 0) : first
      const to = second ?? first
      const differences = differencesOf(await read(database, from), await read(database, to))
      input.print(
        { from, to, differences },
        differences.length > 0
          ? differences.map(describeDifference)
          : [`${nameOf(from)} and ${nameOf(to)} say the same.`],
      )
    }),
}

const isNumber = /^\d{1,9}$/

function nameOf(text: string): string {
  return isNumber.test(text) ? `version ${text}` : text
}

async function read(database: Database, text: string): Promise<Catalogue> {
  if (!isNumber.test(text)) return (await readCatalogueFile(text)).catalogue
  if (text === '0') return emptyCatalogue
  const catalogue = await readVersion(database, Number(text))
  if (!catalogue)
    throw new OperatorError(
      `There is no version ${text}: \`enrolment catalogue list\` tells which there are.`,
    )
  return catalogue
}
