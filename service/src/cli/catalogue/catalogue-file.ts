import { dirname } from 'node:path'
import { readGiven } from '@benefit-enrolment/command'
import { readWholeCatalogue, type WholeCatalogue } from '../../catalogue/bring-files.ts'
import { describeProblem, type Problem } from '../../catalogue/problem.ts'
import { listVersions } from '../../catalogue/published.ts'
import { checkSuccession } from '../../catalogue/succession.ts'
import type { Executor } from '../../db/database.ts'
import { familyProblems } from '../../feeds/parse.ts'
import { newestFeeds } from '../../feeds/store.ts'
import { OperatorError } from '../../operator-error.ts'

const MOST_SHOWN = 50

/**
 * The catalogue of a file, with the files that it names. Throws OperatorError that lists every problem with its line
 * and remedy.
 */
export async function readCatalogueFile(path: string): Promise<WholeCatalogue> {
  const parsed = await readWholeCatalogue(readGiven(path, `The file ${path}`).toString('utf8'), dirname(path))
  if (!parsed.ok) throw refusalOf(parsed.problems)
  return parsed
}

/** Throws OperatorError when the catalogue contradicts an earlier published version, or a published feed cannot tell of its families. */
export async function refuseBreaks(parsed: WholeCatalogue, db: Executor): Promise<void> {
  const versions = await listVersions(db)
  const feeds = (await newestFeeds(db))?.feeds ?? []
  const problems = [
    ...checkSuccession(
      parsed,
      versions.map(version => version.catalogue),
    ),
    ...feeds.flatMap(feed =>
      familyProblems(feed, parsed.catalogue).flatMap(({ benefit, message }) => {
        const position = parsed.positions.get(benefit)
        return position ? [{ ...position, message }] : []
      }),
    ),
  ]
  if (problems.length > 0) throw refusalOf(problems)
}

function refusalOf(problems: readonly Problem[]): OperatorError {
  const more = problems.length > MOST_SHOWN ? [`… and ${problems.length - MOST_SHOWN} more`] : []
  const count = `${problems.length} problem${problems.length === 1 ? '' : 's'} in the catalogue:`
  return new OperatorError([count, ...problems.slice(0, MOST_SHOWN).map(describeProblem), ...more].join('\n'))
}
