import { openReason } from '../../audit/reason.ts'
import { dateAt, type Instant } from '../../calendar/calendar.ts'
import { type Html, html } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import type { SeenRow } from '../user-data/store.ts'
import { deedWords, resultTag, section, table, when } from '../views/parts.ts'

/** A user, and the newest entries of the audit log about the user. */
type Seen = {
  readonly partner: Partner
  readonly serviceId: string
  readonly seen: readonly SeenRow[]
  /** When the user became known. */
  readonly since: Instant
}

/** Who looked at a user and worked on it; reasons are shown to support only. */
export function seenPart(visit: OperatorVisit, { partner, serviceId, seen, since }: Seen): Html {
  const sees = visit.isSupport
  const rows = table({
    caption: 'Who looked at this user, and who worked on it: the newest entries',
    columns: ['When', 'Who', 'What', ...(sees ? ['Because'] : [])],
    rows: inRuns(seen).map(({ row, times, since: first }) => [
      when(row.at, partner.timezone),
      html`${row.operator ?? html`<code>${row.actor}</code>`}<br><span class="hint">${row.actor_kind}</span>`,
      html`${deedWords(row.action)}${resultTag(row.result)}${
        times > 1 && html`<br><span class="hint">${times} times since ${when(first, partner.timezone)}</span>`
      }`,
      ...(sees ? [openReason(partner, serviceId, row.sealed_reason)] : []),
    ]),
    empty: 'Nobody in the last year.',
  })
  // The audit log keeps real time, which a sandbox's clock is ahead of.
  const from = dateAt(since - partner.clockOffsetMs, partner.timezone)
  const filters = { partner: partner.partnerId, user: serviceId, who: 'all', from }
  const all = html`<a href="/audit?${new URLSearchParams(filters).toString()}">All entries</a>`
  return section('Who looked and worked here', rows, all)
}

/** The same entry several times in a row, by its newest. */
type Run = { readonly row: SeenRow; times: number; since: Instant }

const RUNS_SHOWN = 20

/** Entries that repeat the one after them are counted with it, so that the looks of a day do not hide who changed something. */
function inRuns(rows: readonly SeenRow[]): readonly Run[] {
  const runs: Run[] = []
  for (const row of rows) {
    const last = runs.at(-1)
    if (last && isRepeat(row, last.row)) {
      last.times += 1
      last.since = row.at
    } else runs.push({ row, times: 1, since: row.at })
  }
  return runs.slice(0, RUNS_SHOWN)
}

function isRepeat(one: SeenRow, other: SeenRow): boolean {
  const alike = (['actor_kind', 'actor', 'action', 'result'] as const).every(
    name => one[name] === other[name],
  )
  return alike && one.sealed_reason === null && other.sealed_reason === null
}
