import { states } from '@benefit-enrolment/contract/names'
import type { PlainDate } from '../calendar/calendar.ts'
import { DOCUMENT_PATH, ICON } from './file-paths.ts'
import { WHOLE_LANGUAGES } from './languages.ts'
import {
  bilingual,
  coded,
  group,
  list,
  oneOf,
  type SchemaNode,
  setOf,
  text,
  type ValueOf,
  whole,
} from './schema-parts.ts'

/** The highest age that rules consider. */
export const MAX_AGE = 120
const MAX_CENTS = 1_000_000_000
const MAX_BENEFITS = 200
const MAX_OFFERS = 50
const MAX_ZIPS = 10_000
const MAX_INSURERS = 50
/** The combinations of spouse and children are four. */
const MAX_TIERS = 4

const name = coded(
  /^[a-z0-9]{2,32}$/,
  'is not a name; use 2 to 32 lower-case letters and digits, such as accident',
)
const zips = setOf(coded(/^\d{5}$/, 'is not a ZIP code; write 5 digits in quotes, such as "33101"'), MAX_ZIPS)
const prefixes = setOf(
  coded(/^\d{1,4}$/, 'is not a ZIP prefix; write 1 to 4 digits in quotes, such as "331"'),
  MAX_ZIPS,
)
const stateCodes = setOf(
  oneOf<string>(states, 'is not a USPS state code; use two capital letters such as NY'),
  states.length,
)
const date: SchemaNode<PlainDate> = {
  type: 'string',
  format: 'date',
  remedy: 'is not a date; write one that exists as YYYY-MM-DD, such as 2026-01-31',
}

const inOrNotIn = group(
  {},
  { in: stateCodes, notin: stateCodes },
  {
    oneOf: [{ required: ['in'] }, { required: ['notin'] }],
    whenEmpty: 'names no state; add in or notin with a list of state codes',
    whenMany: 'keep one of the two',
  },
)
const conditionsOfOffers = {
  /** Ages from `min` to `max`, both included; a missing bound is open. */
  age: group(
    {},
    { min: whole(0, MAX_AGE), max: whole(0, MAX_AGE) },
    {
      minProperties: 1,
      whenEmpty: 'admits every age; add min, max or both',
    },
  ),
  states: inOrNotIn,
  /**
   * The first five digits of a ZIP code: those in `in` and `prefixes`, or all when both are missing, except those in `notin` and
   * `notprefixes`.
   */
  zips: group(
    {},
    { in: zips, prefixes, notin: zips, notprefixes: prefixes },
    {
      minProperties: 1,
      whenEmpty: 'names no ZIP code; add in, prefixes, notin or notprefixes with a list',
    },
  ),
}
/** What rules ask, by their kinds: those of benefits; an offer cannot depend on offers. */
export const conditions = {
  ...conditionsOfOffers,
  /** Those who hold, or are about to take, one of these offers. */
  offers: group({
    in: [
      'a list of offers',
      setOf(name, MAX_OFFERS, { whenEmpty: 'is empty, so that nobody is admitted; name an offer' }),
    ],
  }),
}

/** How a holder uses a benefit. After cover has ended it still holds for `within` days, for what happened before. */
export const howToUse = group(
  { text: ['what to do and what to have at hand, in en and es', bilingual(1000)] },
  {
    phone: coded(
      /^(?=.{3,31}$)(?=(\D*\d){3,15}\D*$)\+?[\d ().-]+$/,
      'is not a telephone number; write 3 to 15 digits, such as 1-800-555-0142',
    ),
    url: coded(
      /^https:\/\/(?=.{4,500}$)[a-z0-9-]+(\.[a-z0-9-]+)+(:\d{1,5})?(\/[\x21-\x7e]*)?$/,
      'is not a web address; write one that begins with https://, such as https://example.com/claims',
    ),
    email: coded(
      /^(?=.{5,254}$)[\w.+-]{1,64}@[A-Za-z\d-]+(\.[A-Za-z\d-]+)+$/,
      'is not an email address; write one such as claims@example.com',
    ),
    within: group({ days: ['the number of days', whole(1, 3650)] }),
  },
  {
    anyOf: [{ required: ['phone'] }, { required: ['url'] }, { required: ['email'] }],
    whenEmpty: 'names nobody to reach; add phone, url or email',
  },
)
const insurerParts = {
  name: ["the insurer's full name", text(120)],
  licence: ['the line that its license requires, in en and es', bilingual(500)],
} as const
/** An insurer of the file's list, by the code under which benefits and feeds name it. */
export const insurer = group(
  { insurer: ['a short code such as seaview', name], ...insurerParts },
  { howtouse: howToUse },
)
const writtenOut = group(insurerParts, { howtouse: howToUse })
/** The code of an insurer, or the insurer written out. */
const insurerOfBenefit: SchemaNode<string | ValueOf<typeof writtenOut>> = {
  ...writtenOut,
  ...name,
  type: ['string', 'object'],
}

/** Cents per month or week, where a week counts for each Monday; `what` says whose. */
function rate(what: string) {
  return group({
    cents: [`${what}, in cents`, whole(0, MAX_CENTS)],
    per: ['per: month or per: week', per],
  })
}
const per = oneOf(['week', 'month'])
const cost = group(
  { cents: ['the cost in cents; 0 = nothing', whole(0, MAX_CENTS)], per: ['per: month', per] },
  {
    /** Who collects the price from the person, and how. */
    taken: group({
      by: ['who takes the price, one of partner, insurer', oneOf(['partner', 'insurer'])],
      how: ['how it is taken, in en and es, such as "from your weekly payout"', bilingual(120)],
    }),
  },
)
/** What the insurer gets; neither partner nor person sees it. */
const premium = rate('what the insurer gets')
/** What a benefit pays: once, or in each span. */
const amount = group(
  { cents: ['the amount in cents', whole(1, MAX_CENTS)] },
  { per: oneOf(['day', 'week', 'month']) },
)

const kin = group({})
const covers = group(
  {},
  {
    spouse: kin,
    domesticpartner: kin,
    child: group({ maxage: ['the age that ends it, such as 26', whole(1, MAX_AGE)] }, { most: whole(1, 20) }),
  },
  { minProperties: 1, whenEmpty: 'covers nobody; add spouse, domesticpartner or child, or delete it' },
)
/** The prices for those who are covered: of the first tier whose `who` has every relationship; a domestic partner is a spouse. */
export const tier = group(
  {
    tier: ['a short code such as family', name],
    who: [
      'the relationships that it covers, or [] for the holder alone',
      list(oneOf(['spouse', 'child']), 2, { uniqueItems: true }),
    ],
    cost: ['cost: { cents: 0, per: month } or what it costs', cost],
  },
  { premium, amount },
)

/** A document of a benefit; with `states`, only people in these states see it. */
const document = group(
  {
    title: ['what it is, in en and es', bilingual(120)],
    language: [`the language it is written in, one of ${WHOLE_LANGUAGES.join(', ')}`, oneOf(WHOLE_LANGUAGES)],
    file: [
      'the path of a PDF beside this catalogue, such as documents/accident-en.pdf',
      coded(
        DOCUMENT_PATH,
        'is not a PDF beside this catalogue; write its path in lower case, such as documents/accident-en.pdf',
      ),
    ],
  },
  { states: inOrNotIn },
)

/** One product that a user can hold. It has a cost, or `covers` and `tiers`, which have their own. */
export const benefit = group(
  {
    name: ['a short code such as accident', name],
    displayname: ['the name people see, in en and es', bilingual(80)],
    description: ['one or two sentences, in en and es', bilingual(500)],
    icon: [
      'the name of an icon file such as accident.svg',
      coded(
        ICON,
        'is not an icon; write the name of one that ships with us such as accident.svg, or the path of a PNG or WebP file',
      ),
    ],
    benefittype: [
      'one of dollar, service, discount, account',
      oneOf(['dollar', 'service', 'discount', 'account']),
    ],
    sortorder: ['a whole number; lower ones are listed first', whole(0, 1_000_000)],
    pays: ['what it pays or gives, in en and es', bilingual(1000)],
    notcovered: ['what it does not cover, in en and es', bilingual(1000)],
  },
  {
    cost,
    amount,
    covers,
    tiers: list(tier, MAX_TIERS, { minItems: 1, whenEmpty: 'is an empty list; begin with the holder alone' }),
    rules: rulesWith(conditions),
    /** The text a person agrees to; the same version always means the same text. */
    consent: group({
      version: [
        'a version such as "2026-01"',
        coded(
          /^[A-Za-z0-9][A-Za-z0-9.-]{0,63}$/,
          'is not a version; use up to 64 letters, digits, dots and dashes, such as "2026-01"',
        ),
      ],
      text: ['the text to agree to, in en and es', bilingual(20_000)],
    }),
    endsatage: whole(1, MAX_AGE),
    insurer: insurerOfBenefit,
    howtouse: howToUse,
    /** The insurer's number of the group policy, and its code of this plan; feeds tell them. */
    policy: text(50),
    plancode: text(50),
    documents: list(document, 100),
    /** How long after its start it does not pay, and for what. */
    waitingperiod: group({ days: ['the number of days', whole(1, 3650)] }, { text: bilingual(300) }),
    /** Whether a person must or may name beneficiaries. */
    beneficiaries: oneOf(['required', 'optional']),
    premium,
  },
)

/** How somebody's first or last month is charged: whole, by its days, or not at all. */
const month = oneOf(['full', 'daily', 'free'])
/** A package of benefits: those that come with it and those to choose among. */
export const offer = group(
  {
    offer: ['a short code such as starter', name],
    displayname: ['the name people see, in en and es', bilingual(80)],
    description: ['one or two sentences, in en and es', bilingual(500)],
    rank: ['a whole number; an upgrade goes to a higher one', whole(1, 1000)],
    fixed: ['the benefits that come with the offer, or []', list(name, MAX_BENEFITS, { uniqueItems: true })],
    selectable: ['the benefits to choose among, or []', list(name, MAX_BENEFITS, { uniqueItems: true })],
    slots: ['how many of the selectable benefits a person may choose', whole(0, MAX_BENEFITS)],
  },
  {
    period: oneOf(['calendarmonth']),
    cutoffhours: whole(0, 14 * 24),
    /** First and last date, both included, on which newcomers may take it. */
    availability: group(
      {},
      { from: date, until: date },
      {
        minProperties: 1,
        whenEmpty: 'says nothing; add from, until or both',
      },
    ),
    rules: rulesWith(conditionsOfOffers),
    fee: rate('what the partner pays for a user on the offer'),
    /** Hold for the fee, and for cost and premium of its benefits, each by its own first and last month. */
    firstmonth: month,
    lastmonth: month,
  },
)

const atLeastOne = { minItems: 1, whenEmpty: 'is an empty list; a catalogue needs at least one' }

/**
 * The form of every value of a catalogue file, as a JSON Schema; `check-across.ts` checks what several values mean
 * together.
 */
export const CATALOGUE_SCHEMA = group(
  {
    schema: ['schema: 1 as the first line', whole(1, 1)],
    benefits: ['the list of benefits', list(benefit, MAX_BENEFITS, atLeastOne)],
    offers: ['the list of offers', list(offer, MAX_OFFERS, atLeastOne)],
  },
  { insurers: list(insurer, MAX_INSURERS) },
  { $schema: 'http://json-schema.org/draft-07/schema#' },
)

function rulesWith<Kinds extends Readonly<Record<string, SchemaNode>>>(kinds: Kinds) {
  const code = coded(
    /^(?=.{1,64}$)[a-z][a-z0-9]*(_[a-z0-9]+)*$/,
    'is not a rule code; use up to 64 lower-case letters, digits and _, such as not_in_ny',
  )
  const names = Object.keys(kinds)
  const rule = group(
    {
      code: ['a code such as age_18_64', code],
      text: ['the text that a refused person reads, in en and es', bilingual(300)],
    },
    kinds,
    {
      oneOf: names.map(kind => ({ required: [kind] })),
      whenEmpty: `has no condition; add one of ${names.join(', ')}`,
      whenMany: 'make a rule of its own of each',
    },
  )
  return list(rule, 50)
}
