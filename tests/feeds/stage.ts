import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dateAt } from '../../service/src/calendar/calendar.ts'
import { runContext } from '../../service/src/cli/feeds/run-context.ts'
import { recordAnswers } from '../../service/src/feeds/answer.ts'
import { readCsvAnswers } from '../../service/src/feeds/answers-csv.ts'
import { compareLists, type Difference } from '../../service/src/feeds/compare-list.ts'
import { textOfFile } from '../../service/src/feeds/encoding.ts'
import { writeRun } from '../../service/src/feeds/hand-over.ts'
import { coversHere, endedFor, sayAgain } from '../../service/src/feeds/list-here.ts'
import { parseFeeds } from '../../service/src/feeds/parse.ts'
import { readInsurerList } from '../../service/src/feeds/read-list.ts'
import { refusedOf } from '../../service/src/feeds/refused.ts'
import { dropRun } from '../../service/src/feeds/release.ts'
import { requireFeed, runFeed, tryRun } from '../../service/src/feeds/run.ts'
import { moveRun, newestRun, newestSentRun, publishFeeds, readRun } from '../../service/src/feeds/store.ts'
import { runImport } from '../../service/src/imports/run-import.ts'
import { markInstallation } from '../../service/src/installation.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import { readCsv } from '../../service/src/read-csv.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { fileOf, lifeCatalogue, type TestCatalogue } from '../life/catalogue.ts'
import { startTestService } from '../rig.ts'

/** A catalogue whose benefits have an insurer. */
export function insuredCatalogue(of: TestCatalogue = lifeCatalogue): string {
  const catalogue = JSON.parse(fileOf(of)) as { benefits: object[] }
  const insurer = {
    insurer: 'seaview',
    name: 'Seaview Mutual',
    licence: { en: 'NAIC 00000', es: 'NAIC 00000' },
  }
  const benefits = catalogue.benefits.map(one => ({ ...one, insurer: 'seaview', policy: 'GL-1' }))
  return JSON.stringify({ ...catalogue, benefits, insurers: [insurer] })
}

export const columns = [
  { name: 'LINE', value: 'line' },
  { name: 'ACTION', value: 'action' },
  { name: 'USER', value: 'userid' },
  { name: 'LAST', value: 'lastname' },
  { name: 'PLAN', value: 'benefit', codes: { art: 'ART1' } },
  { name: 'FROM', value: 'startson' },
  { name: 'TO', value: 'endson' },
]
const answers = {
  columns: { line: 'LINE', code: 'STATUS', text: 'MESSAGE', memberid: 'CERT' },
  accepted: ['OK'],
}

/** A service in the middle of a month, with a feed to an insurer. */
export async function startFeeds(
  more: { readonly console?: true; readonly startAt?: number; readonly catalogue?: string } = {},
) {
  // Two calls have one instant unless a test moves the clock: a day of cover is not a millisecond by chance.
  const still = { startAt: Date.UTC(2027, 4, 12, 15), clock: 'still' } as const
  const service = await startTestService({ ...still, catalogue: insuredCatalogue(), ...more })
  const { database, keyring, now: real } = service
  const installation = await markInstallation(database, { keyring, wanted: 'either', now: real() })
  const workspace = { database, keyring, real, installation }
  const context = runContext(workspace)
  const folder = await mkdtemp(join(tmpdir(), 'feeds-'))
  let feeds = 0

  const publish = async (feed: string, more: object) => {
    await context.prepareTerms([])
    const own = {
      feed,
      insurer: 'seaview',
      benefits: ['art', 'books'],
      format: 'csv',
      columns,
      answers,
      ...more,
    }
    const parsed = parseFeeds(
      JSON.stringify({ schema: 1, feeds: [own] }),
      context.published.today().catalogue,
    )
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
    await publishFeeds(database, { document: parsed.document, at: real(), by: 'test' }, [])
  }
  return {
    service,
    context,
    folder,
    publish,
    /** Imports members of a partner, as the lines of a file of JSON have them; returns how many were taken. */
    async importMembers(partnerId: string, ...members: readonly object[]): Promise<number> {
      const partner = (await context.partners()).find(one => one.partnerId === partnerId)
      if (!partner) throw new Error('no such partner')
      async function* records() {
        yield members.map((member, index) => ({ line: index + 1, member }))
      }
      const { taken } = await runImport(records(), {
        executor: openCommandExecutor(context),
        partner,
        options: { checks: false, raises: false, chargeFrom: undefined },
        isDry: false,
        actor: 'test',
        importId: uuidv7(real()),
      })
      return taken
    },
    /** The refused lines of the newest feed with which nobody has dealt. */
    refused: () => refusedOf(context, { feed: `feed${feeds}`, run: undefined }),
    /** Publishes a feed of its own for a test, because runs are counted in each. */
    async newFeed(more: object = {}) {
      feeds += 1
      // A line of another feed is older than those of this one.
      service.advance(1)
      const feed = `feed${feeds}`
      await publish(feed, more)
      const run = (asked: { full?: boolean; by?: string } = {}) =>
        runFeed(context, feed, {
          asked: { by: asked.by ?? 'test', full: asked.full ?? false },
          places: { folder, command: undefined },
        })
      return {
        feed,
        run,
        /** What a dry run shows. */
        tried: () => tryRun(context, feed, { full: false }),
        /** Runs it, and returns the data lines of its file. */
        async lines(asked?: { full?: boolean }): Promise<string[]> {
          const { file } = await run(asked)
          if (file === undefined) return []
          const [, ...rows] = [...readCsv(await readFile(file, 'utf8'))]
          return rows.map(({ cells }) => cells.slice(1).join(' ').trim())
        },
        /** Takes a CSV file of answers, to a run that is named, or to the last one that was sent. */
        async answer(text: string, number?: number) {
          const given = readCsvAnswers(text, (await requireFeed(database, feed)).feed)
          const executor = openCommandExecutor(context)
          const run = number ?? (await newestSentRun(database, feed))?.run ?? 0
          const about = { feed, run, isRunGiven: number !== undefined, actor: 'tester' }
          return recordAnswers({ ...context, executor }, given, about)
        },
        /** Lets the newest run go, or drops it, as a second person. */
        async decide(which: 'made' | 'dropped') {
          const held = await newestRun(database, feed)
          if (!held) throw new Error('no run')
          if (which === 'made') await moveRun(database, held, { from: 'held', status: 'made', by: 'second' })
          else await dropRun(database, held, { partners: await context.partners(), by: 'second' })
        },
        /** Compares with an insurer's own list that has nobody in it; what it lacks of these people is said again. */
        async findLacking(
          serviceIds: readonly string[],
          kind: 'missingthere' | 'dates' = 'missingthere',
          person?: string,
        ): Promise<number> {
          const { feed: own } = await requireFeed(database, feed)
          const partners = await context.partners()
          const here = await coversHere(database, partners, own)
          const { missingthere } = compareLists(here, [], endedFor(partners, context.clock))
          const lacking = here.filter(
            one => serviceIds.includes(one.serviceId) && (person === undefined || one.person === person),
          )
          for (const cover of lacking) await sayAgain(database, own, { ...cover, kind })
          return missingthere.filter(one => serviceIds.includes(one.serviceid)).length
        },
        /** What differs, of a person or of nobody here, between what the insurer was told and the bytes of its own list, by kind. */
        async compared(list: Buffer, serviceId: string): Promise<[kind: string, one: Difference][]> {
          const { feed: own } = await requireFeed(database, feed)
          const partners = await context.partners()
          const here = await coversHere(database, partners, own)
          const there = readInsurerList(textOfFile(list, own), own, dateAt(real(), 'UTC'))
          const found = compareLists(here, there, endedFor(partners, context.clock))
          return Object.entries(found).flatMap(([kind, list]) =>
            list
              .filter(one => one.serviceid === '' || one.serviceid === serviceId)
              .map((one): [string, Difference] => [kind, one]),
          )
        },
        /** The bytes of an earlier run, made again. */
        async again(number: number): Promise<string> {
          const found = await readRun(database, feed, number)
          if (!found) throw new Error('no such run')
          const pieces: Buffer[] = []
          await writeRun(database, context, found, async bytes => pieces.push(bytes))
          return Buffer.concat(pieces).toString('utf8')
        },
      }
    },
    close: () => service[Symbol.asyncDispose](),
  }
}
