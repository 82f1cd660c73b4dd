// What months of families come to, counted by SQL from what was asked for: who was named for a benefit from which day on, and from
// when to when each benefit and offer was held. It counts day by day, and knows of the service's rules only docs/month.md and
// docs/family.md.
import type { Relationship, Tier } from '../../service/src/catalogue/model.ts'
import type { TestCatalogue } from './catalogue.ts'

/** The day on which the families came, from which on those who moved in are charged. */
export const CAME = '2028-01-20'
/** The months that are counted; February has 29 days. */
export const MONTHS = ['2028-01', '2028-02', '2028-03']

/** What was done about one family. */
export type Facts = {
  readonly userid: string
  readonly offer: string
  /** Members who moved in keep a child who was too old, until the end of the month in which they came. */
  readonly isImported: boolean
  readonly people: readonly { readonly relationship: Relationship; readonly dob: string }[]
  /** From the first to the last day of a benefit or an offer; without a last one: still held. */
  readonly windows: readonly {
    readonly name: string
    readonly since: string
    readonly until: string | null
    /** By a reinstate, which asks for the ages anew. */
    readonly isBack: boolean
  }[]
  /** Whom a benefit covers from a day on, by their places; what was asked last for a day counts. */
  readonly named: readonly {
    readonly name: string
    readonly since: string
    readonly who: readonly number[]
  }[]
  /** The last day of somebody in a benefit, by a correction. */
  readonly gone: readonly { readonly name: string; readonly person: number; readonly last: string }[]
}

function tier(name: string, who: Tier['who'], per: 'month' | 'week', cents: readonly [number, number]): Tier {
  const [cost, premium] = cents
  return { tier: name, who, cost: { cents: cost, per }, premium: { cents: premium, per } }
}

/** The age at which a child's cover ends. */
export const maxAges = { dental: 26, hospital: 20, eyes: 18 }
const premium = { cents: 401, per: 'month' } as const

/** Offers that charge first and last months by days, not at all, or whole; benefits by the month and by the week, with four and two tiers. */
export const familyMonths: TestCatalogue = {
  benefits: [
    {
      ...{ name: 'dental', premium },
      covers: { spouse: {}, domesticpartner: {}, child: { maxage: maxAges.dental, most: 3 } },
      tiers: [
        tier('me', [], 'month', [1001, 801]),
        tier('mespouse', ['spouse'], 'month', [1907, 1503]),
        tier('mechildren', ['child'], 'month', [2113, 1709]),
        tier('family', ['spouse', 'child'], 'month', [3019, 2411]),
      ],
    },
    {
      ...{ name: 'hospital', premium },
      covers: { spouse: {}, child: { maxage: maxAges.hospital, most: 2 } },
      tiers: [tier('one', [], 'week', [307, 211]), tier('all', ['spouse', 'child'], 'week', [709, 503])],
    },
    {
      ...{ name: 'eyes', premium },
      covers: { child: { maxage: maxAges.eyes } },
      tiers: [tier('me', [], 'month', [503, 401]), tier('mechildren', ['child'], 'month', [907, 719])],
    },
    { name: 'solo', premium, cost: { cents: 617, per: 'month' } },
  ],
  offers: (['low', 'top'] as const).map((offer, nth) => ({
    ...{ offer, rank: nth + 1, fixed: ['dental'], selectable: ['hospital', 'eyes', 'solo'], slots: 3 },
    prices: {
      fee: { cents: offer === 'low' ? 299 : 499, per: 'month' },
      ...(offer === 'low'
        ? ({ firstmonth: 'daily', lastmonth: 'daily' } as const)
        : ({ firstmonth: 'free', lastmonth: 'full' } as const)),
    },
  })),
}

/** What was done, and the prices, as the SQL takes them. */
export function givenOf(families: readonly Facts[]): object {
  const ofEach = <T>(of: (family: Facts) => readonly T[]) =>
    families.flatMap(family => of(family).map((one, nth) => ({ userid: family.userid, nth, ...one })))
  const prices = familyMonths.benefits.flatMap(({ name, tiers, cost, premium }) =>
    (tiers ?? [{ tier: '', who: [] as Tier['who'], cost, premium }]).map((one, nth) => ({
      ...{
        name,
        nth,
        tier: one.tier,
        per: one.cost?.per,
        cents: one.cost?.cents,
        premium: one.premium?.cents,
      },
      ...{ spouse: one.who.includes('spouse'), child: one.who.includes('child') },
    })),
  )
  const fees = familyMonths.offers.map(({ offer, prices }) => ({
    ...{
      name: offer,
      nth: 0,
      tier: '',
      per: 'month',
      cents: prices?.fee?.cents,
      premium: 0,
      spouse: false,
      child: false,
    },
  }))
  return {
    held: ofEach(({ windows, offer }) => windows.map(one => ({ ...one, offer }))),
    named: ofEach(({ named }) => named),
    gone: ofEach(({ gone }) => gone),
    people: ofEach(({ people, isImported }) =>
      people.map(one => ({ ...one, came: isImported ? CAME : one.dob })),
    ),
    ages: Object.entries(maxAges).map(([name, age]) => ({ name, age })),
    terms: familyMonths.offers.map(({ offer, prices }) => ({ offer, ...prices })),
    prices: [...prices, ...fees],
  }
}

/**
 * A row for each user, month and thing: `key`; `amounts`, what person or partner pays and what the insurer gets; `shown`, the tier,
 * the days, the first and the last one.
 */
export const recount = `
with given as materialized (select $1::jsonb as facts),
held as materialized (
  select one.* from given, jsonb_to_recordset(facts -> 'held')
    as one (userid text, name text, offer text, since date, until date, "isBack" boolean)),
named as materialized (
  select one.* from given, jsonb_to_recordset(facts -> 'named') as one (userid text, name text, since date, nth integer, who jsonb)),
gone as materialized (
  select one.* from given, jsonb_to_recordset(facts -> 'gone') as one (userid text, name text, person integer, last date)),
people as materialized (
  select one.* from given, jsonb_to_recordset(facts -> 'people')
    as one (userid text, nth integer, relationship text, dob date, came date)),
ages as (select one.* from given, jsonb_to_recordset(facts -> 'ages') as one (name text, age integer)),
terms as (
  select one.* from given, jsonb_to_recordset(facts -> 'terms') as one (offer text, firstmonth text, lastmonth text)),
prices as (
  select one.* from given, jsonb_to_recordset(facts -> 'prices')
    as one (name text, nth integer, tier text, per text, cents integer, premium integer, spouse boolean, child boolean)),
children as (
  -- Who was born on a February 29 has the birthday of other years on March 1.
  select userid, nth, name, came, reached + (extract(day from dob) = 29 and extract(day from reached) = 28)::integer as birthday
  from people cross join ages cross join lateral (select (dob + make_interval(years => age))::date as reached) as born
  where relationship = 'child'),
days as (
  select userid, name, day, date_trunc('month', day)::date as month, case
    when 'free' in (first, last) then 'free'
    when 'daily' in (first, last) then 'daily'
    else 'full' end as mode
  from held join terms using (offer)
  cross join generate_series(
    greatest(since, '${MONTHS[0]}-01'), least(until, '2028-03-31'), interval '1 day') as day
  cross join lateral (select
    case when date_trunc('month', since) = date_trunc('month', day) then firstmonth end as first,
    case when date_trunc('month', until) = date_trunc('month', day) then lastmonth end as last) as modes),
months as (
  select userid, name, month, min(day)::date as first, max(day)::date as last, count(distinct day) as days,
    count(distinct day) filter (where mode <> 'free') as charged,
    bool_or(mode = 'full') as is_whole,
    count(distinct day) filter (where extract(isodow from day) = 1) as mondays,
    extract(day from month + interval '1 month' - interval '1 day')::integer as length
  from days group by userid, name, month),
covered as (
  select m.*, coalesce(bool_or(relationship <> 'child'), false) as has_spouse,
    coalesce(bool_or(relationship = 'child'), false) as has_child
  from months m
  left join lateral (
    select who from named n where n.userid = m.userid and n.name = m.name and n.since <= m.first
    order by since desc, nth desc limit 1) as newest on true
  left join people p on p.userid = m.userid and newest.who @> to_jsonb(p.nth)
    and not exists (
      select from gone g where g.userid = m.userid and g.name = m.name and g.person = p.nth and g.last < m.first)
    and not exists (
      select from children c where c.userid = m.userid and c.nth = p.nth and c.name = m.name and (
        m.first >= date_trunc('month', greatest(birthday, came)) + interval '1 month'
        or exists (
          select from held h where h.userid = m.userid and h.name = m.name and h."isBack"
            and h.since <= m.first and c.birthday <= h.since)))
  group by m.userid, m.name, m.month, m.first, m.last, m.days, m.charged, m.is_whole, m.mondays, m.length)
select concat_ws(' ', userid, to_char(month, 'YYYY-MM'), covered.name) as key,
  concat_ws(' ', amount(cents), amount(premium)) as amounts,
  concat_ws(' ', tier, days, first, last) as shown
from covered
cross join lateral (
  select * from prices where prices.name = covered.name and (spouse or not has_spouse) and (child or not has_child)
  order by nth limit 1) as price`.replaceAll(
  /amount\((\w+)\)/g,
  `case when per = 'week' then $1 * mondays when is_whole then $1 else (2 * $1 * charged + length) / (2 * length) end`,
)
