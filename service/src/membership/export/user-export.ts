import { formatTimestamp, type Instant, timestampOrNull } from '../../calendar/calendar.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import type { Reader } from '../reading/reader.ts'
import { confirmationRecord } from '../records/confirmations.ts'
import { readConsentRecords } from '../records/consents.ts'
import { designationRecord, readDesignations } from '../records/designations.ts'
import type { OpenLine } from '../records/insurer-lines.ts'
import { findRefusedCreates, viewRefused } from '../records/refused-creates.ts'
import { type OpenRecord, readRecords } from '../records/sealed.ts'
import { daysOf } from '../rules/family.ts'
import type { Enrolment, User } from '../rules/state.ts'
import { viewTimeline, viewUser } from '../rules/view.ts'

/** Everything that is kept about one user, unsealed; parts that the user does not have are empty. */
export type UserExport = {
  readonly exportedat: string
  readonly partnerid: string
  readonly user: ReturnType<typeof viewUser>
  readonly timeline: ReturnType<typeof viewTimeline>
  /** Personal data: of the prefill, of the account, and of a draft. */
  readonly documents: Readonly<Record<string, unknown>>
  /** The consents, how each one reached us, and the evidence that an operator noted for it. */
  readonly consents: readonly unknown[]
  readonly confirmations: readonly unknown[]
  /** What insurers were told, as it was sent, and what they answered, newest first. */
  readonly insurerlines: readonly unknown[]
  /** The beneficiaries, in all versions. */
  readonly beneficiaries: readonly unknown[]
  /** The dependants, in all versions of their list, and who was or will be covered when. */
  readonly dependants: readonly unknown[]
  readonly covered: readonly unknown[]
  /** The events of the last 30 days, as the partner got them. */
  readonly events: readonly unknown[]
  /** Links, and visits to the page. */
  readonly visits: readonly unknown[]
  /** The language that the person chose last on the page. */
  readonly pagelanguage: string | null
  /** The newest creates that were refused under this userid. */
  readonly refusedcreates: readonly unknown[]
}

/** Gathers everything that is kept about a living user; `undefined` when the partner has no user with this userid. */
export async function exportUser(
  context: { readonly database: Database; readonly reader: Reader; readonly real: () => Instant },
  partner: Partner,
  userid: string,
): Promise<UserExport | undefined> {
  const { database, reader, real } = context
  const reading = await reader.read(partner, userid)
  if (!reading || reading.user.status === 'none' || reading.user.status === 'erased') return undefined
  const { user, terms } = reading
  const whose = { partner, user }
  return {
    exportedat: formatTimestamp(real()),
    partnerid: partner.partnerId,
    user: viewUser(user, terms, 'en'),
    timeline: viewTimeline(user, await reader.history(reading, 'all')),
    documents: Object.fromEntries(await reader.documents(partner, user)),
    consents: await consentsOf(database, whose),
    confirmations: (await readRecords(database, whose, 'confirmation')).reverse().map(confirmationRecord),
    insurerlines: (await reader.insurerLines(partner, user)).map(exportedLine),
    beneficiaries: (await readDesignations(database, whose, 'all')).map(designationRecord),
    dependants: (await readRecords(database, whose, 'dependants')).reverse().map(dependantsRecord),
    covered: user.enrolments.flatMap(coveredRecords),
    events: await eventsOf(database, user),
    visits: await visitsOf(database, user),
    pagelanguage: await pageLanguageOf(database, user),
    refusedcreates: (await findRefusedCreates(database, partner, userid)).map(viewRefused),
  }
}

async function consentsOf(db: Executor, whose: { partner: Partner; user: User }): Promise<unknown[]> {
  return (await readConsentRecords(db, whose)).map(one => ({
    name: one.name,
    version: one.version,
    agreedat: formatTimestamp(one.agreedAt),
    locale: one.locale,
    channel: one.channel,
    evidence: one.evidence ?? null,
  }))
}

function dependantsRecord({ version, at, facts, content }: OpenRecord) {
  return { version: Number(version), ...facts, writtenat: formatTimestamp(at), dependants: content() }
}

function coveredRecords(enrolment: Enrolment): object[] {
  return (enrolment.covered ?? []).map(one => {
    const { startsAt, endsAt } = daysOf(enrolment, one)
    return {
      ...{ benefit: enrolment.benefit, state: enrolment.state, dependantid: one.dependantId },
      relationship: one.relationship,
      startsat: formatTimestamp(startsAt),
      endsat: timestampOrNull(endsAt),
    }
  })
}

function exportedLine(line: OpenLine) {
  const { feed, run, insurer, benefit, action, status, answer, answeredAt } = line
  return {
    ...{ feed, run, line: line.line, insurer, benefit, action, status },
    ...(line.person !== '' && { dependantid: line.person }),
    toldat: formatTimestamp(line.toldAt),
    startson: line.startsOn,
    endson: line.endsOn ?? null,
    values: line.openValues() ?? null,
    answer: answer ? { code: answer.code, text: answer.text, memberid: answer.memberId } : null,
    answeredat: timestampOrNull(answeredAt),
  }
}

async function eventsOf(db: Executor, { partnerId, serviceId }: User): Promise<unknown[]> {
  const rows = await db.query<{ at: Instant; body: Buffer }>(sql`
    select e.event_id as eventid, e.created_at as at, e.body
    from history h
    cross join lateral unnest(h.event_ids) as raised (event_id)
    join events e on e.partner_id = h.partner_id and e.event_id = raised.event_id
    where h.partner_id = ${partnerId} and h.service_id = ${serviceId} order by e.position`)
  return rows.map(row => ({
    ...row,
    at: formatTimestamp(row.at),
    body: JSON.parse(row.body.toString('utf8')) as unknown,
  }))
}

type VisitInstants = Record<
  'createdat' | 'openedat' | 'lastseenat' | 'birthdatetriedat' | 'completedat',
  Instant | null
>

async function visitsOf(db: Executor, { partnerId, userid }: User): Promise<unknown[]> {
  const rows = await db.query<VisitInstants>(sql`
    select purpose, delivery, locale, offername, deeplinkdata, redirecturl, outcome, reference, created_at as createdat,
      spent_at as openedat, last_seen_at as lastseenat, last_view as lastview,
      birthdate_tries as birthdatetries, birthdate_tried_at as birthdatetriedat,
      completed_at as completedat, case when made_by is null then 'partner' else 'operator' end as madeby
    from page_sessions where partner_id = ${partnerId} and userid = ${userid} order by created_at`)
  return rows.map(row => ({
    ...row,
    createdat: timestampOrNull(row.createdat),
    openedat: timestampOrNull(row.openedat),
    lastseenat: timestampOrNull(row.lastseenat),
    birthdatetriedat: timestampOrNull(row.birthdatetriedat),
    completedat: timestampOrNull(row.completedat),
  }))
}

async function pageLanguageOf(db: Executor, { partnerId, userid }: User): Promise<string | null> {
  const [row] = await db.query<{ locale: string }>(sql`
    select locale from page_languages where partner_id = ${partnerId} and userid = ${userid}`)
  return row?.locale ?? null
}
