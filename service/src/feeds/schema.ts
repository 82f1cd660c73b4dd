import { coded, group, list, oneOf, type SchemaNode, setOf, text, whole } from '../catalogue/schema-parts.ts'

/** The days of the week, from Sunday on. */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const

const benefitName = coded(
  /^[a-z0-9]{2,32}$/,
  'is not a name; use 2 to 32 lower-case letters and digits, such as accident',
)
const columnName = text(100)
const fixedText: SchemaNode<string> = { type: 'string', maxLength: 100 }
const dateForm = coded(
  /^(YYYY|YY|MM|DD|[./ -])+$/,
  'is no form of a date; put it together from YYYY, YY, MM, DD and . / - or a space, such as MMDDYYYY',
)
const codes: SchemaNode<Readonly<Record<string, string>>> = {
  type: 'object',
  additionalProperties: fixedText,
  minProperties: 1,
  whenEmpty: 'is empty; write value: CODE, or delete the key',
}
const coverageLevels: typeof codes = {
  ...codes,
  additionalProperties: oneOf(
    'CHD DEP E1D E2D E3D E5D E6D E7D E8D E9D ECH EMP ESP FAM IND SPC SPO TWO'.split(' '),
  ),
}
const yesOrNo: SchemaNode<boolean> = { type: 'boolean' }
const party: SchemaNode<readonly [qualifier: string, id: string]> = {
  type: 'array',
  items: coded(/^[\x20-\x7e]{1,30}$/, 'is no part of an id; use 1 to 30 plain characters'),
  minItems: 2,
  maxItems: 2,
  whenEmpty: 'needs a qualifier and an id; write [FI, "123456789"]',
}

/** When a feed runs: on days of the week, or on a day of the month, at a time of day in a zone. */
const every = group(
  {
    at: [
      'at: "05:00"',
      coded(/^([01]\d|2[0-3]):[0-5]\d$/, 'is no time of day; write one such as "05:00" in quotes'),
    ],
    timezone: ['a time zone such as America/New_York', text(60)],
  },
  { days: setOf(oneOf(WEEKDAYS), 7), dayofmonth: whole(1, 28) },
  {
    oneOf: [{ required: ['days'] }, { required: ['dayofmonth'] }],
    whenEmpty: 'names no day; add days: [mon] or dayofmonth: 1',
    whenMany: 'keep one of the two',
  },
)

/** A value or a fixed text. `codes` replaces values by the insurer's own, `form` writes a date. */
const column = group(
  { name: ['the name of the column', columnName] },
  { value: text(60), text: fixedText, form: dateForm, codes },
  {
    oneOf: [{ required: ['value'] }, { required: ['text'] }],
    whenEmpty: 'has neither value nor text; add one of them',
    whenMany: 'keep one of the two',
  },
)

function columnsOf(...names: readonly string[]): typeof codes {
  return {
    type: 'object',
    properties: Object.fromEntries(names.map(name => [name, columnName])),
    additionalProperties: false,
    minProperties: 1,
    whenEmpty: 'is empty; name the columns of the file',
  }
}

/** Which benefits an insurer is told about, when, and in which form. */
export const feed = group(
  {
    feed: [
      'a short code such as seaview',
      coded(/^[a-z0-9]{2,32}$/, 'is not a name; use 2 to 32 lower-case letters and digits, such as seaview'),
    ],
    insurer: ['the code of an insurer of the catalogue', text(32)],
    benefits: ['the list of benefits', setOf(benefitName, 200)],
    format: ['format: csv', oneOf(['csv', 'json', 'x12834'])],
  },
  {
    content: oneOf(['changes', 'full']),
    every,
    aheaddays: whole(0, 366),
    endstatedfor: whole(0, 3660),
    hold: group({ endspercent: ['endspercent: 10', whole(1, 100)] }),
    csv: group(
      {},
      {
        header: yesOrNo,
        delimiter: coded(/^([ !#-~]|tab)$/, 'is no delimiter; write one character such as ";", or tab'),
        quote: oneOf(['needed', 'all']),
        dates: dateForm,
        encoding: oneOf(['utf-8', 'iso-8859-1', 'ascii']),
        trailer: yesOrNo,
      },
    ),
    columns: list(column, 200, { minItems: 1, whenEmpty: 'is empty; add a column' }),
    answers: group({
      columns: [
        'columns: { line: LINE, code: STATUS }',
        columnsOf('line', 'code', 'text', 'memberid', 'serviceid', 'benefit', 'dependantid'),
      ],
      accepted: ['the codes that accept a line, such as [OK]', list(text(50), 100)],
    }),
    list: group({
      columns: [
        'the columns of the insurer’s own list',
        columnsOf(
          ...['memberid', 'serviceid', 'dependantid', 'benefit', 'startson', 'endson'],
          ...['firstname', 'lastname', 'dob'],
        ),
      ],
    }),
    x12834: group(
      {
        sender: ['sender: [ZZ, OURS]', party],
        receiver: ['receiver: [FI, "987654321"]', party],
        sponsor: ['sponsor: [FI, "123456789"]', party],
        lines: ['lines: { dental: DEN }', codes],
      },
      { tiers: coverageLevels },
    ),
  },
)

/** The JSON Schema of feed files, which also has the words for their mistakes. */
export const FEED_SCHEMA = group(
  {
    schema: ['schema: 1 as the first line', whole(1, 1)],
    feeds: ['the list of feeds', list(feed, 100)],
  },
  {},
  { $schema: 'http://json-schema.org/draft-07/schema#' },
)
