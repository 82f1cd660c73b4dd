import { type Command, flag, readGiven } from '@benefit-enrolment/command'
import { noPartner } from '../../audit/entries.ts'
import { addDays, dateAt } from '../../calendar/calendar.ts'
import {
  compareLists,
  type Difference,
  type DifferenceKind,
  type Differences,
  differenceKinds,
} from '../../feeds/compare-list.ts'
import {
  type FoundDifference,
  noteDifferences,
  setAsideBefore,
  subjectOf,
} from '../../feeds/difference-store.ts'
import { textOfFile } from '../../feeds/encoding.ts'
import type { Feed } from '../../feeds/feed.ts'
import { type CoverHere, coversHere, endedFor, sayAgain } from '../../feeds/list-here.ts'
import { readInsurerList } from '../../feeds/read-list.ts'
import { requireFeed } from '../../feeds/run.ts'
import { sealJson } from '../../membership/records/sealed.ts'
import { listPartners } from '../../partners/store.ts'
import { inWorkspace, type Workspace } from '../workspace.ts'
import { runContext } from './run-context.ts'

/** Compares what an insurer was told with its own list, and keeps the differences until a later comparison lacks them. */
export const compare: Command = {
  name: 'feed compare',
  arguments: ['FEED', 'FILE'],
  summary: 'Compare what an insurer was told with its own list: CSV, as `list` of the feed says, or an 834.',
  options: { 'send-again': flag('the next run says again what the insurer lacks or has otherwise') },
  run: input =>
    inWorkspace(input, async workspace => {
      const { database, begin, real } = workspace
      const [name = '', path = ''] = input.positionals
      const { feed } = await requireFeed(database, name)
      const { partners: readPartners, clock } = runContext(workspace)
      const partners = await readPartners()
      const latest = Math.max(real(), ...partners.map(one => clock.now(one)))
      const there = readInsurerList(
        textOfFile(readGiven(path, `The file ${path}`), feed),
        feed,
        // Nowhere is it later than a day after that of UTC.
        addDays(dateAt(latest, 'UTC'), 1),
      )
      await begin()
      const here = await coversHere(database, partners, feed)
      const found = compareLists(here, there, endedFor(partners, clock))
      await keep(workspace, feed, { all: found, here })
      const all = withoutAside(workspace, name, { found, aside: await setAsideBefore(database, name) })
      if (input.flag('send-again'))
        for (const kind of ['missingthere', 'dates', 'details'] as const)
          for (const { serviceid: serviceId, benefit, dependantid: person } of all[kind]) {
            const partnerId = here.find(one => one.serviceId === serviceId)?.partnerId ?? ''
            await sayAgain(database, feed, { partnerId, serviceId, benefit, person, kind })
          }
      const userids = new Map(here.map(one => [one.serviceId, one.userid]))
      const listed = Object.fromEntries(
        differenceKinds.map(kind => [
          kind,
          all[kind].map(one => ({ userid: userids.get(one.serviceid) ?? '', ...one })),
        ]),
      )
      input.print(
        listed,
        differenceKinds.flatMap(kind => [
          `${kind}: ${all[kind].length}`,
          ...all[kind].flatMap(one => [
            `  ${userids.get(one.serviceid) ?? '-'}  ${one.serviceid || '-'}  ${one.memberid || '-'}  ${one.benefit}${one.dependantid ? ` of ${one.dependantid}` : ''}`,
            ...one.differs.map(
              ({ value, ours, theirs }) =>
                `    ${value}: we say ${ours || 'nothing'}, it says ${theirs || 'nothing'}`,
            ),
          ]),
        ]),
      )
    }),
}

function withoutAside(
  { keyring }: Workspace,
  feed: string,
  {
    found,
    aside,
  }: { readonly found: Differences; readonly aside: Awaited<ReturnType<typeof setAsideBefore>> },
): Differences {
  const isAside = (kind: DifferenceKind, one: Difference) =>
    aside.some(other => other.kind === kind && other.subject.equals(subjectOf(keyring, feed, one)))
  const listed = (kind: DifferenceKind) =>
    aside.length === 0 ? found[kind] : found[kind].filter(one => !isAside(kind, one))
  return {
    missingthere: listed('missingthere'),
    unknownhere: listed('unknownhere'),
    dates: listed('dates'),
    details: listed('details'),
    twice: listed('twice'),
  }
}

/**
 * Keeps what was found, with the values sealed under the keys of the people; of those who are not ours a hash alone. A benefit that is
 * none of the feed's is the insurer's text, which may name a person: only the terminal shows it.
 */
async function keep(
  { database, keyring, real }: Workspace,
  { feed, benefits }: Feed,
  { all, here }: { readonly all: Differences; readonly here: readonly CoverHere[] },
): Promise<void> {
  const people = new Map(here.map(one => [one.serviceId, one]))
  const found = differenceKinds.flatMap(kind =>
    all[kind].map((one): FoundDifference => {
      const { partnerId, serviceId, dataKey } = people.get(one.serviceid) ?? {}
      const user = partnerId && serviceId ? { partnerId, serviceId } : undefined
      return {
        kind,
        benefit: benefits.includes(one.benefit) ? one.benefit : '',
        person: user && one.dependantid,
        subject: subjectOf(keyring, feed, one),
        partnerId: user?.partnerId ?? noPartner,
        serviceId: user?.serviceId,
        sealed: user && dataKey ? sealJson(dataKey, one.differs, 'feed_differences', user) : undefined,
      }
    }),
  )
  const partners = (await listPartners(database)).map(row => row.partner_id)
  await database.transaction(tx => noteDifferences(tx, feed, { found, partners, at: real() }))
}
