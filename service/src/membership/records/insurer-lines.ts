import type { Instant, PlainDate } from '../../calendar/calendar.ts'
import { column, within } from '../../db/columns.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { rowsInto } from '../../db/table.ts'
import type { Partner } from '../../partners/partner.ts'
import type { Cover, LineAction, ToldCover } from '../rules/insurer-lines.ts'
import { openDataKey, openJson, sealJson, type UserIds, userKey } from './sealed.ts'

/**
 * What an insurer made of a line so far; `settled`: it stands no more, as the insurer has lost it or nothing is left to tell of what it
 * refused; `doubted`: its own list says otherwise, and the next run says it again.
 */
export type LineStatus = 'sent' | 'accepted' | 'refused' | 'settled' | 'doubted'

/** The name of a line within one person: which benefit, and where it was sent. */
export type LineName = { readonly feed: string; readonly run: number; readonly line: number }

/** A line in the form in which it is stored. */
export type LineRow = LineName & {
  readonly user: UserIds
  readonly insurer: string
  readonly benefit: string
  /** Whom it is about, of those whom the benefit covers; `''`: the member. */
  readonly person: string
  readonly toldAt: Instant
  readonly action: LineAction
  readonly cover: ToldCover
  readonly sealed: Buffer | undefined
  readonly answer?: { readonly sealed: Buffer; readonly at: Instant } | undefined
}

/** What an insurer answered to a line. */
export type InsurerAnswer = {
  readonly code: string
  readonly text: string
  readonly memberId: string
}

/** A cover of which a former system had told the insurer, who accepted it under this member number. */
export type ImportedCover = {
  readonly insurer: string
  readonly benefit: string
  /** The dependant whom it covers; `''`: the member. */
  readonly person: string
  readonly startsOn: PlainDate
  readonly memberId: string
}

/** What insurers were told; a line with an answer counts as accepted. */
export const insurerLines = rowsInto<LineRow, LineRow>(
  'insurer_lines',
  {
    ...within(userKey, ({ user }: LineRow) => user),
    benefit: column.text(row => row.benefit),
    feed: column.text(row => row.feed),
    run: column.integer(row => row.run),
    line: column.integer(row => row.line),
  },
  {
    insurer: column.text(row => row.insurer),
    dependant_id: column.uuid(row => row.person || undefined),
    told_at: column.instant(row => row.toldAt),
    cover: column.integer(row => row.cover.number),
    action: column.text(row => row.action),
    starts_on: column.text(row => row.cover.startsOn),
    ends_on: column.text(row => row.cover.endsOn),
    details: column.bytes(({ cover }) =>
      cover.details === undefined ? undefined : Buffer.from(cover.details, 'base64url'),
    ),
    tier: column.text(row => row.cover.step?.tier || undefined),
    tier_starts_on: column.text(row => row.cover.step?.startsOn),
    sealed: column.bytes(row => row.sealed),
    status: column.text(row => (row.answer ? 'accepted' : 'sent')),
    sealed_answer: column.bytes(row => row.answer?.sealed),
    answered_at: column.instant(row => row.answer?.at),
  },
  { casts: { starts_on: 'date', ends_on: 'date', tier_starts_on: 'date' } },
)

/** The rows that record what a former system had told about a person; the first run learns `details` and the tier. */
export function importedRows(
  dataKey: Buffer,
  user: UserIds,
  { covers, at }: { readonly covers: readonly ImportedCover[]; readonly at: Instant },
): LineRow[] {
  return covers.map(({ insurer, benefit, person, startsOn, memberId }, index) => ({
    user,
    insurer,
    benefit,
    person,
    feed: '',
    run: 0,
    line: index,
    toldAt: at,
    action: 'add',
    cover: { number: index + 1, startsOn, endsOn: undefined, details: undefined, isVoid: false },
    sealed: undefined,
    answer: { sealed: sealInsurerAnswer(dataKey, user, { code: '', text: '', memberId }), at },
  }))
}

/** Seals what an insurer answered with the person's data key. */
export function sealInsurerAnswer(dataKey: Buffer, user: UserIds, answer: InsurerAnswer): Buffer {
  return sealJson(dataKey, answer, 'insurer_lines.answer', user)
}

/** Opens what `sealInsurerAnswer` sealed. Throws for another key or another user. */
export function openInsurerAnswer(dataKey: Buffer, user: UserIds, sealed: Buffer): InsurerAnswer {
  return openJson(dataKey, sealed, 'insurer_lines.answer', user) as InsurerAnswer
}

/** What an insurer knows of one period of cover of one person. */
export type Told = ToldCover & {
  readonly serviceId: string
  readonly insurer: string
  readonly benefit: string
  /** Whom it covers; `''`: the member. */
  readonly person: string
  readonly name: LineName
  /** When the data of the person was last written; only of what a former system had told, while its details are not known. */
  readonly writtenAt: Instant | undefined
}

type ToldRow = Cover & {
  service_id: string
  insurer: string
  benefit: string
  feed: string
  run: number
  line: number
  cover: number
  action: LineAction
  starts_on: PlainDate
  ends_on: PlainDate | null
  dependant_id: string | null
  tier: string | null
  tier_starts_on: PlainDate | null
  details: Buffer | null
  status: LineStatus
  written_at: Instant | null
}

/**
 * What insurers know of these users: for each period of cover the newest line that was not refused, also one that took the
 * cover back.
 */
export async function loadTold(
  db: Executor,
  partnerId: string,
  serviceIds: readonly string[],
): Promise<Told[]> {
  const rows = await db.query<ToldRow>(sql`
    select distinct on (service_id, insurer, benefit, cover) service_id, insurer, benefit, feed, run, line, cover, action,
      starts_on::text, ends_on::text, dependant_id, tier, tier_starts_on::text, details, status,
      case when feed = '' and details is null then (
        select d.at from sealed_records d
        where d.partner_id = l.partner_id and d.service_id = l.service_id and d.kind = 'profile' limit 1) end as written_at
    from insurer_lines l
    where partner_id = ${partnerId} and service_id = any (${serviceIds}::uuid[])
      and status in ('sent', 'accepted', 'doubted')
    order by service_id, insurer, benefit, cover, told_at desc, run desc, line desc`)
  return rows.map(row => ({
    serviceId: row.service_id,
    insurer: row.insurer,
    benefit: row.benefit,
    person: row.dependant_id ?? '',
    name: { feed: row.feed, run: row.run, line: row.line },
    number: row.cover,
    startsOn: row.starts_on,
    endsOn: row.ends_on ?? undefined,
    details: row.details?.toString('base64url'),
    step: row.details ? { tier: row.tier ?? '', startsOn: row.tier_starts_on ?? undefined } : undefined,
    isVoid: row.action === 'void',
    isDoubted: row.status === 'doubted',
    writtenAt: row.written_at ?? undefined,
  }))
}

/** Finds a person's member number for a benefit, `''` without one, with the data key that opens it. */
export type MemberIds = (dataKey: Buffer | undefined, user: UserIds) => (benefit: string) => string

/**
 * Reads the answers of insurers that may hold member numbers of these users; the newest number of a benefit counts. A dependant has
 * no number of its own.
 */
export async function readMemberIds(
  db: Executor,
  partnerId: string,
  serviceIds: readonly string[],
): Promise<MemberIds> {
  const rows = await db.query<{ service_id: string; benefit: string; sealed_answer: Buffer }>(sql`
    select service_id, benefit, sealed_answer from insurer_lines
    where partner_id = ${partnerId} and service_id = any (${serviceIds}::uuid[]) and sealed_answer is not null
      and dependant_id is null
    order by service_id, benefit, told_at desc, run desc, line desc`)
  const byUser = new Map<string, typeof rows>()
  for (const row of rows) {
    const own = byUser.get(row.service_id)
    if (own) own.push(row)
    else byUser.set(row.service_id, [row])
  }
  return (dataKey, user) => benefit => {
    for (const row of byUser.get(user.serviceId) ?? []) {
      if (!dataKey || row.benefit !== benefit) continue
      const { memberId } = openInsurerAnswer(dataKey, user, row.sealed_answer)
      if (memberId !== '') return memberId
    }
    return ''
  }
}

/** A line about a person, opened, with what the insurer answered. */
export type OpenLine = LineName & {
  readonly toldAt: Instant
  readonly insurer: string
  readonly benefit: string
  /** Whom it is about; `''`: the member. */
  readonly person: string
  readonly action: LineAction
  readonly startsOn: PlainDate
  readonly endsOn: PlainDate | undefined
  readonly status: LineStatus
  readonly answer: InsurerAnswer | undefined
  readonly answeredAt: Instant | undefined
  /** Opens what the line said, value by value; `undefined` for what a former system had told. */
  readonly openValues: () => Readonly<Record<string, string>> | undefined
}

/** All that insurers were told of a person and what they answered, newest first. */
export async function readLines(
  db: Executor,
  { partner, user }: { readonly partner: Partner; readonly user: UserIds },
): Promise<OpenLine[]> {
  const rows = await db.query<
    Omit<ToldRow, 'details' | 'tier' | 'tier_starts_on' | 'written_at'> & {
      told_at: Instant
      sealed_answer: Buffer | null
      answered_at: Instant | null
      sealed: Buffer | null
      wrapped_key: Buffer
    }
  >(sql`
    select l.insurer, l.benefit, l.dependant_id, l.feed, l.run, l.line, l.told_at, l.action, l.starts_on::text, l.ends_on::text, l.status,
      l.sealed_answer, l.answered_at, l.sealed, k.wrapped_key
    from insurer_lines l join data_keys k using (partner_id, service_id)
    where l.partner_id = ${user.partnerId} and l.service_id = ${user.serviceId}
    order by l.told_at desc, l.run desc, l.line desc`)
  const [first] = rows
  if (!first) return []
  const key = openDataKey(partner, user.serviceId, first.wrapped_key)
  return rows.map(row => ({
    feed: row.feed,
    run: row.run,
    line: row.line,
    toldAt: row.told_at,
    insurer: row.insurer,
    benefit: row.benefit,
    person: row.dependant_id ?? '',
    action: row.action,
    startsOn: row.starts_on,
    endsOn: row.ends_on ?? undefined,
    status: row.status,
    answer: row.sealed_answer === null ? undefined : openInsurerAnswer(key, user, row.sealed_answer),
    answeredAt: row.answered_at ?? undefined,
    openValues: () =>
      row.sealed === null
        ? undefined
        : (openJson(key, row.sealed, 'insurer_lines', user) as Record<string, string>),
  }))
}

/** How far an insurer knows a benefit of a member: by the newest line about it that is not dealt with. */
export type InsurerState = {
  readonly status: 'unsent' | 'sent' | 'accepted' | 'refused'
  readonly memberId: string
}

/**
 * The state of one benefit by the member's lines, newest first: `unsent` again where the insurer has lost all that it was told. A member
 * number stays once it is learnt.
 */
export function insurerStateOf(lines: readonly OpenLine[], benefit: string): InsurerState {
  const own = lines.filter(line => line.benefit === benefit && line.person === '')
  const status = own.map(line => line.status).find(status => status !== 'settled') ?? 'unsent'
  const memberId = own.find(line => line.answer?.memberId)?.answer?.memberId ?? ''
  return { status: status === 'doubted' ? 'sent' : status, memberId }
}
