import type { Command } from '@benefit-enrolment/command'
import { formatTimestamp } from '../../calendar/calendar.ts'
import { withoutHowToUse } from '../../catalogue/how-to-use.ts'
import { describeProblem } from '../../catalogue/problem.ts'
import { listPublications, publishVersion } from '../../catalogue/published.ts'
import { CATALOGUE_SCHEMA } from '../../catalogue/schema.ts'
import type { Executor } from '../../db/database.ts'
import { EmptyDatabase } from '../reach.ts'
import { hasDatabase, inWorkspace } from '../workspace.ts'
import { readCatalogueFile, refuseBreaks } from './catalogue-file.ts'
import { impact } from './catalogue-impact.ts'

const checkFile: Command = {
  name: 'catalogue check',
  arguments: ['FILE'],
  summary: 'Check a catalogue file, alone and against the versions published before.',
  run: async input => {
    const parsed = await readCatalogueFile(input.positionals[0] ?? '')
    // Without a database, there is no earlier version.
    if (await hasDatabase(input)) {
      await inWorkspace(input, ({ database }) => refuseBreaks(parsed, database)).catch(error => {
        // An empty database has no earlier version that the catalogue could contradict.
        if (!(error instanceof EmptyDatabase)) throw error
      })
    }
    const { benefits, offers } = parsed.catalogue
    const warnings = withoutHowToUse(parsed).map(describeProblem)
    input.print({ ok: true, benefits: benefits.size, offers: offers.size, warnings }, [
      `The catalogue is right. Benefits: ${benefits.size}, offers: ${offers.size}.`,
      ...warnings.map(warning => `Warning: ${warning}`),
    ])
  },
}

const list: Command = {
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

const publish: Command = {
  name: 'catalogue publish',
  arguments: ['FILE'],
  summary: 'Publish a catalogue file as the next version; running services use it within a second.',
  run: async input => {
    const parsed = await readCatalogueFile(input.positionals[0] ?? '')
    await inWorkspace(
      input,
      async ({ database, real, alongside }) => {
        const { document, brought: files } = parsed
        const check = (tx: Executor) => refuseBreaks(parsed, tx)
        const fresh = { document, files, at: real(), by: 'operator', check }
        const { version, isNew } = await publishVersion(database, fresh, [alongside()])
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

const schema: Command = {
  name: 'catalogue schema',
  summary: 'Print the JSON Schema of catalogue files, by which an editor completes and checks them.',
  run: async input => input.print(CATALOGUE_SCHEMA, [JSON.stringify(CATALOGUE_SCHEMA, null, 2)]),
}

/** The commands about the catalogue. */
export const catalogueCommands: readonly Command[] = [checkFile, impact, publish, list, schema]
