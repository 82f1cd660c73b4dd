import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readWholeCatalogue, type WholeCatalogue } from '../catalogue/bring-files.ts'
import { describeProblem, type Problem } from '../catalogue/problem.ts'
import { listVersions, publishVersion } from '../catalogue/published.ts'
import { checkSuccession } from '../catalogue/succession.ts'
import type { Database } from '../db/database.ts'
import { OperatorError } from '../operator-error.ts'
import type { Command, Input } from './command.ts'
import { EmptyDatabase, hasDatabase, inWorkspace } from './workspace.ts'

const mostShown = 50

async function readFileOf(input: Input): Promise<string> {
  const [path = ''] = input.positionals
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new OperatorError(
      `The file ${path} cannot be read (${(error as { code?: string }).code ?? 'unknown'}).`,
    )
  }
}

/** The catalogue of a file, with the files it brings. Throws OperatorError that lists every problem with its line and remedy. */
async function readOrRefuse(input: Input): Promise<WholeCatalogue> {
  const parsed = await readWholeCatalogue(await readFileOf(input), dirname(input.positionals[0] ?? ''))
  if (!parsed.ok) throw refusalOf(parsed.problems)
  return parsed
}

function refusalOf(problems: readonly Problem[]): OperatorError {
  const more = problems.length > mostShown ? [`… and ${problems.length - mostShown} more`] : []
  const count = `${problems.length} problem${problems.length === 1 ? '' : 's'} in the catalogue:`
  return new OperatorError([count, ...problems.slice(0, mostShown).map(describeProblem), ...more].join('\n'))
}

/** Throws OperatorError where the catalogue breaks with a version that was published before. */
async function refuseBreaks(parsed: WholeCatalogue, database: Database): Promise<void> {
  const versions = await listVersions(database)
  const problems = checkSuccession(
    parsed,
    versions.map(version => version.catalogue),
  )
  if (problems.length > 0) throw refusalOf(problems)
}

const check: Command = {
  name: 'catalogue check',
  arguments: ['FILE'],
  summary: 'Check a catalogue file, alone and against the versions published before.',
  options: {},
  run: async input => {
    const parsed = await readOrRefuse(input)
    // Where there is no database, nothing was published before.
    if (await hasDatabase(input)) {
      await inWorkspace(input, ({ database }) => refuseBreaks(parsed, database)).catch(error => {
        // Nothing was published in an empty database, so nothing can break.
        if (!(error instanceof EmptyDatabase)) throw error
      })
    }
    const { benefits, offers } = parsed.catalogue
    input.print({ ok: true, benefits: benefits.size, offers: offers.size }, [
      `The catalogue is right: ${benefits.size} benefits, ${offers.size} offers.`,
    ])
  },
}

const publish: Command = {
  name: 'catalogue publish',
  arguments: ['FILE'],
  summary: 'Publish a catalogue file as the next version; running services use it within a second.',
  options: {},
  run: async input => {
    const parsed = await readOrRefuse(input)
    await inWorkspace(
      input,
      async ({ database, real }) => {
        await refuseBreaks(parsed, database)
        const { version, isNew } = await publishVersion(database, {
          document: parsed.document,
          files: parsed.brought,
          at: real(),
          by: 'operator',
        })
        input.print({ version, published: isNew }, [
          isNew
            ? `Version ${version} is published.`
            : `Version ${version} has this content already; nothing was published.`,
        ])
      },
      { schema: 'make' },
    )
  },
}

/** The commands about the catalogue. */
export const catalogueCommands: readonly Command[] = [check, publish]
