import { type Command, flag, readGiven } from '@benefit-enrolment/command'
import { noPartner } from '../../audit/entries.ts'
import { dateAt, formatTimestamp } from '../../calendar/calendar.ts'
import {
  compareLists,
  type DifferenceKind,
  type Differences,
  differenceKinds,
} from '../../feeds/compare-list.ts'
import {
  type KeptDifference,
  noteDifferences,
  openDifferences,
  subjectOf,
} from '../../feeds/difference-store.ts'
import { type CoverHere, coversHere, sayAgain } from '../../feeds/list-here.ts'
import { readInsurerList } from '../../feeds/read-list.ts'
import { requireFeed } from '../../feeds/run.ts'
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
      const there = readInsurerList(readGiven(path, `The file ${path}`).toString('utf8'), feed)
      await begin()
      const partners = await runContext(workspace).partners()
      const here = await coversHere(database, partners, feed)
      const today = dateAt(real(), feed.every?.timezone ?? 'UTC')
      const all = compareLists(here, there, endsOn => !!endsOn && endsOn < today)
      const found = await keep(workspace, name, { all, here })
      if (input.flag('send-again'))
        for (const kind of ['missingthere', 'dates', 'details'] as const)
          for (const { serviceid: serviceId, benefit } of found[kind]) {
            const partnerId = here.find(one => one.serviceId === serviceId)?.partnerId ?? ''
            await sayAgain(database, feed, { partnerId, serviceId, benefit, kind })
          }
      const listed = Object.fromEntries(
        differenceKinds.map(kind => [kind, found[kind].map(({ foundAt: _, ...one }) => one)]),
      )
      input.print(
        listed,
        differenceKinds.flatMap(kind => [
          `${kind}: ${found[kind].length}`,
          ...found[kind].map(
            one =>
              `  ${one.serviceid || '-'}  ${one.memberid || '-'}  ${one.benefit}  since ${formatTimestamp(one.foundAt)}`,
          ),
        ]),
      )
    }),
}

type Aged = Differences[DifferenceKind][number] & { readonly foundAt: number }

/** Stores what was found; returns what nobody set aside, with its age. */
async function keep(
  { database, keyring, real }: Workspace,
  feed: string,
  { all, here }: { readonly all: Differences; readonly here: readonly CoverHere[] },
): Promise<Readonly<Record<DifferenceKind, readonly Aged[]>>> {
  const partnerOf = new Map(here.map(one => [one.serviceId, one.partnerId]))
  const named = differenceKinds.flatMap(kind =>
    all[kind].map(one => ({
      ...one,
      kind,
      subject: subjectOf(keyring, feed, one),
      partnerId: partnerOf.get(one.serviceid) ?? noPartner,
      serviceId: partnerOf.has(one.serviceid) ? one.serviceid : undefined,
    })),
  )
  const partners = (await listPartners(database)).map(row => row.partner_id)
  await database.transaction(tx => noteDifferences(tx, feed, { found: named, partners, at: real() }))
  const keyOf = ({ kind, subject }: Pick<KeptDifference, 'kind' | 'subject'>) =>
    `${kind} ${subject.toString('base64')}`
  const open = await openDifferences(database, feed, [...partners, noPartner])
  const ages = new Map(open.map(one => [keyOf(one), one.foundAt]))
  const listed = (kind: DifferenceKind) =>
    named.flatMap((one): Aged[] => {
      const foundAt = one.kind === kind ? ages.get(keyOf(one)) : undefined
      const { serviceid, memberid, benefit } = one
      return foundAt === undefined ? [] : [{ serviceid, memberid, benefit, foundAt }]
    })
  return {
    missingthere: listed('missingthere'),
    unknownhere: listed('unknownhere'),
    dates: listed('dates'),
    details: listed('details'),
    twice: listed('twice'),
  }
}
