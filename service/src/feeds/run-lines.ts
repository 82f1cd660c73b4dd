import type { Catalogue } from '../catalogue/model.ts'
import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { findSentFarewells, type OpenFarewell } from '../membership/records/farewells.ts'
import { openDataKey, openJson } from '../membership/records/sealed.ts'
import type { Partner } from '../partners/partner.ts'
import type { Feed, LineValues } from './feed.ts'
import { effectiveOn } from './values.ts'

/** A line of a run, opened, as it stands in the file. */
type SentLine = { readonly line: number; readonly values: LineValues }

const PAGE = 500

/**
 * The lines of a run that are still there, in the order of the file: those of people who were erased since are missing, but
 * the lines that only say that their cover ended.
 */
export async function* readRunLines(
  db: Executor,
  partners: readonly Partner[],
  {
    feed,
    run,
    catalogue,
  }: { readonly feed: Feed; readonly run: number; readonly catalogue: Pick<Catalogue, 'benefits'> },
): AsyncGenerator<SentLine[]> {
  for (const partner of await inFileOrder(db, partners, { feed: feed.feed, run })) {
    const farewells = (await findSentFarewells(db, partner, { feed: feed.feed, run })).map(
      (farewell): SentLine => ({ line: farewell.line, values: farewellValues(farewell, { run, catalogue }) }),
    )
    if (farewells.length > 0) yield farewells
    for (let after = 0; ; ) {
      const lines = await readPage(db, partner, { feed: feed.feed, run, after })
      if (lines.length > 0) yield lines
      if (lines.length < PAGE) break
      after = lines.at(-1)?.line ?? after
    }
  }
}

/** A run numbers its lines partner by partner, so the lowest line of each gives their order. */
async function inFileOrder(
  db: Executor,
  partners: readonly Partner[],
  { feed, run }: { readonly feed: string; readonly run: number },
): Promise<Partner[]> {
  const firsts = new Map<string, number>()
  for (const { partnerId } of partners) {
    const [row] = await db.query<{ first: number | null }>(sql`
      select least(
        (select min(line) from insurer_lines where partner_id = ${partnerId} and feed = ${feed} and run = ${run}),
        (select min(line) from insurer_farewells where partner_id = ${partnerId} and feed = ${feed} and run = ${run})
      ) as first`)
    if (row?.first !== null && row !== undefined) firsts.set(partnerId, row.first)
  }
  return partners
    .filter(({ partnerId }) => firsts.has(partnerId))
    .sort((a, b) => (firsts.get(a.partnerId) ?? 0) - (firsts.get(b.partnerId) ?? 0))
}

async function readPage(
  db: Executor,
  partner: Partner,
  { feed, run, after }: { readonly feed: string; readonly run: number; readonly after: number },
): Promise<SentLine[]> {
  const { partnerId } = partner
  const rows = await db.query<{ service_id: string; line: number; sealed: Buffer; wrapped_key: Buffer }>(sql`
    select l.service_id, l.line, l.sealed, k.wrapped_key from (
      select service_id, line, sealed from insurer_lines
      where partner_id = ${partnerId} and feed = ${feed} and run = ${run} and line > ${after}
      order by line limit ${PAGE}) l
    join data_keys k on k.partner_id = ${partnerId} and k.service_id = l.service_id
    order by l.line`)
  let key: Buffer | undefined
  return rows.map((row, index) => {
    const user = { partnerId, serviceId: row.service_id }
    // The lines of one person follow each other, under one key.
    if (!key || rows[index - 1]?.service_id !== row.service_id)
      key = openDataKey(partner, row.service_id, row.wrapped_key)
    const values = openJson(key, row.sealed, 'insurer_lines', user) as LineValues
    return { line: row.line, values: { ...values, line: String(row.line), run: String(run) } }
  })
}

/**
 * The values of the line about an erased person, or a dependant of one: serviceid, member number, benefit, dates and who it is, with
 * what the catalogue says of the benefit.
 */
function farewellValues(
  farewell: OpenFarewell,
  { run, catalogue }: { readonly run: number; readonly catalogue: Pick<Catalogue, 'benefits'> },
): LineValues {
  const { user, benefit, memberId, action, line, startsOn, endsOn, dependant } = farewell
  const known = catalogue.benefits.get(benefit)
  return {
    action,
    reason: action === 'void' ? 'corrected' : 'erased',
    line: String(line),
    run: String(run),
    serviceid: user.serviceId,
    memberid: memberId,
    benefit,
    who: dependant?.relationship ?? 'member',
    dependantid: dependant?.dependantId ?? '',
    // Nobody knows the tier of a family that was erased; without tiers there is none to know.
    ...(!known?.tiers && { tier: '' }),
    policy: known?.policy ?? '',
    plancode: known?.plancode ?? '',
    startson: startsOn,
    endson: endsOn ?? '',
    effectiveon: effectiveOn({ action, startsOn, endsOn }, endsOn ?? startsOn),
  }
}
