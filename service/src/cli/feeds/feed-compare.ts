import { dateAt } from '../../calendar/calendar.ts'
import { compareLists, type Difference, differenceKinds } from '../../feeds/compare-list.ts'
import { coversHere, sayAgain } from '../../feeds/list-here.ts'
import { readInsurerList } from '../../feeds/read-list.ts'
import { requireFeed } from '../../feeds/run.ts'
import { type Command, flag, readGiven } from '../command.ts'
import { inWorkspace } from '../workspace.ts'
import { runContext } from './run-context.ts'

/** Compares what an insurer was told with its own list. */
export const compare: Command = {
  name: 'feed compare',
  arguments: ['FEED', 'FILE'],
  summary: 'Compare what an insurer was told with its own list: CSV, as `list` of the feed says.',
  options: { 'send-again': flag('the next run says again what the insurer lacks or has otherwise') },
  run: input =>
    inWorkspace(input, async workspace => {
      const { database, begin, real } = workspace
      const [name = '', path = ''] = input.positionals
      const { feed } = await requireFeed(database, name)
      const there = readInsurerList(readGiven(path, `The file ${path}`).toString('utf8'), feed)
      await begin()
      const here = await coversHere(database, await runContext(workspace).partners(), feed)
      const today = dateAt(real(), feed.every?.timezone ?? 'UTC')
      const found = compareLists(here, there, endsOn => !!endsOn && endsOn < today)
      const again = [...found.missingthere, ...found.dates, ...found.details]
      const same = (one: Difference, { serviceId, benefit }: { serviceId: string; benefit: string }) =>
        one.serviceid === serviceId && one.benefit === benefit
      if (input.flag('send-again'))
        for (const cover of here.filter(one => again.some(other => same(other, one))))
          await sayAgain(database, feed, cover)
      input.print(
        found,
        differenceKinds.flatMap(kind => [
          `${kind}: ${found[kind].length}`,
          ...found[kind].map(one => `  ${one.serviceid || '-'}  ${one.memberid || '-'}  ${one.benefit}`),
        ]),
      )
    }),
}
