import fc from 'fast-check'
import { DateTime } from 'luxon'
import { describe, expect, test } from 'vitest'
import { everydayOr } from '../../../tests/long.ts'
import {
  addDays,
  ageOn,
  boundaryAfter,
  dateAt,
  dateOfAge,
  effectiveInstant,
  formatTimestamp,
  type Instant,
  isDateTime,
  isLocked,
  isRealDate,
  isZone,
  localTimestamp,
  lockedFrom,
  type PlainDate,
  parseTimestamp,
  prefillExpiresAt,
  reinstatableUntil,
  startOfDate,
  type Zone,
} from './calendar.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const legacyZones = [
  'US/Eastern',
  'US/Pacific-New',
  'EST5EDT',
  'GB',
  'Asia/Calcutta',
  'Asia/Katmandu',
  'NZ-CHAT',
]
const zones = [
  ...Intl.supportedValuesOf('timeZone'),
  ...legacyZones,
  'Etc/GMT+12',
  'Etc/GMT-14',
  'UTC',
].filter(isZone)
const zone = fc.constantFrom(...zones)
const instant = fc.integer({ min: Date.UTC(2000, 0, 2), max: Date.UTC(2060, 11, 31) })
const anyDate = fc.integer({ min: -719_528, max: 2_932_896 - 1 }).map(day => addDays('1970-01-01', day))
function dateOf(from: PlainDate, days: number) {
  return fc.integer({ min: 0, max: days }).map(day => addDays(from, day))
}
const serviceDate = dateOf('2000-01-03', 22_000)
const birthDate = fc.oneof(
  dateOf('1900-01-01', 46_000),
  fc.integer({ min: 0, max: 30 }).map((n): PlainDate => `${1904 + 4 * n}-02-29` as PlainDate),
)

/** What a clock on the wall in the zone shows, from luxon's own reading of the instant. */
function wallDate(at: Instant, inZone: Zone): string {
  return DateTime.fromMillis(at, { zone: inZone }).toFormat('yyyy-MM-dd')
}

function utc(text: string): Instant {
  return Date.parse(text)
}

describe('zones', () => {
  test('every IANA zone known here is one, legacy names too', () => {
    for (const name of Intl.supportedValuesOf('timeZone')) expect(isZone(name), name).toBe(true)
    for (const name of ['US/Eastern', 'Asia/Calcutta', 'UTC']) expect(isZone(name), name).toBe(true)
  })

  test.each([
    '',
    ' ',
    'Mars/Olympus',
    '+05:00',
    '-0400',
    'UTC+3',
    'local',
    'system',
    'America/New York',
    '5',
  ])('%j is no zone', name => {
    expect(isZone(name)).toBe(false)
    expect(() => dateAt(0, name)).toThrow(RangeError)
    expect(() => startOfDate('2026-01-01', name)).toThrow(RangeError)
  })
})

describe('real dates', () => {
  test.each(['0000-01-01', '0099-12-31', '2000-02-29', '2024-02-29', '1900-02-28', '9999-12-31'])(
    '%s is one',
    d => expect(isRealDate(d)).toBe(true),
  )

  test.each([
    '2023-02-29',
    '1900-02-29',
    '2100-02-29',
    '2026-02-30',
    '2026-04-31',
    '2026-00-10',
    '2026-13-01',
    '2026-01-00',
    '2026-01-32',
    '2026-1-1',
    '26-01-01',
    '2026-01-01T00:00',
    '2026-01-01\n',
    ' 2026-01-01',
    '+002026-01-01',
    '٢٠٢٦-01-01',
    '',
  ])('%j is none', text => expect(isRealDate(text)).toBe(false))

  test('dates of days and months are real exactly when the calendar has them', () => {
    const part = (max: number) => fc.integer({ min: 0, max })
    fc.assert(
      fc.property(part(9999), part(13), part(32), (year, month, day) => {
        const text = [
          String(year).padStart(4, '0'),
          String(month).padStart(2, '0'),
          String(day).padStart(2, '0'),
        ]
        expect(isRealDate(text.join('-'))).toBe(DateTime.utc(year, month, day).isValid)
      }),
    )
  })

  test('a date that does not exist is refused by arithmetic, without being repeated', () => {
    expect(() => addDays('2023-02-29', 1)).toThrow(/^Not a calendar date of the form YYYY-MM-DD$/)
    expect(() => addDays('9999-12-31', 1)).toThrow(RangeError)
    expect(() => addDays('0000-01-01', -1)).toThrow(RangeError)
  })

  test('adding the days between two dates leads from one to the other, across month ends and leap days', () => {
    expect(addDays('2024-02-28', 1)).toBe('2024-02-29')
    expect(addDays('2023-02-28', 1)).toBe('2023-03-01')
    expect(addDays('2025-12-31', 1)).toBe('2026-01-01')
    expect(addDays('0099-12-31', 1)).toBe('0100-01-01')
    fc.assert(
      fc.property(anyDate, anyDate, (from, to) => {
        expect(addDays(from, (Date.parse(to) - Date.parse(from)) / DAY)).toBe(to)
      }),
    )
  })
})

describe('days in a zone', () => {
  test.each([
    ['America/New_York', '2026-03-08', '2026-03-08T05:00:00Z', 'clocks go forward later that day'],
    ['America/New_York', '2026-03-09', '2026-03-09T04:00:00Z', 'the day after'],
    ['America/New_York', '2026-11-02', '2026-11-02T05:00:00Z', 'the day after clocks went back'],
    ['Asia/Kolkata', '2026-01-01', '2025-12-31T18:30:00Z', 'half an hour'],
    ['Asia/Kathmandu', '2026-01-01', '2025-12-31T18:15:00Z', 'three quarters'],
    ['Australia/Lord_Howe', '2026-10-05', '2026-10-04T13:00:00Z', 'a half-hour change the day before'],
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00Z', 'no midnight: the day begins at 01:00'],
    [
      'America/Sao_Paulo',
      '2018-02-18',
      '2018-02-18T03:00:00Z',
      'clocks go back at midnight, which comes once',
    ],
    ['America/Havana', '2025-11-02', '2025-11-02T04:00:00Z', 'midnight comes twice: the earlier one'],
    ['America/Nuuk', '2026-10-25', '2026-10-25T02:00:00Z', 'clocks go back at midnight, to 23:00'],
    [
      'America/St_Johns',
      '2009-11-01',
      '2009-11-01T02:30:00Z',
      'back across midnight one minute into the day',
    ],
    ['Pacific/Apia', '2011-12-29', '2011-12-29T10:00:00Z', 'the last day east of the date line'],
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z', 'a date that never was'],
    ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00Z', 'the day after it'],
    ['UTC', '0001-01-01', '0001-01-01T00:00:00Z', 'the first year'],
  ] as const)('%s %s begins at %s: %s', (inZone, date, expected, _because) => {
    expect(formatTimestamp(startOfDate(date, inZone))).toBe(expected.replace('Z', '.000Z'))
  })

  test('an instant lies in its date, and before the next', () => {
    fc.assert(
      fc.property(zone, instant, (inZone, at) => {
        const date = dateAt(at, inZone)
        expect(startOfDate(date, inZone)).toBeLessThanOrEqual(at)
        expect(startOfDate(addDays(date, 1), inZone)).toBeGreaterThan(at)
      }),
      { numRuns: 1_500 },
    )
  })

  test('a date begins when a clock on the wall first shows it or a later one', () => {
    fc.assert(
      fc.property(zone, serviceDate, (inZone, date) => {
        const start = startOfDate(date, inZone)
        expect(wallDate(start, inZone) >= date).toBe(true)
        expect(wallDate(start - 1, inZone) < date).toBe(true)
        for (let back = 1; back <= 60; back++)
          expect(wallDate(start - back * 1_800_000, inZone) < date).toBe(true)
      }),
      { numRuns: 150 },
    )
  })

  test('the days on which clocks change begin right too', () => {
    // Two instants half a year apart, halved until the change of offset between them is found.
    fc.assert(
      fc.property(zone, instant, (inZone, at) => {
        const offset = (ms: number) => DateTime.fromMillis(ms, { zone: inZone }).offset
        let low = at
        let high = at + 182 * DAY
        fc.pre(offset(low) !== offset(high))
        while (high - low > 1) {
          const middle = Math.floor((low + high) / 2)
          if (offset(middle) === offset(low)) low = middle
          else high = middle
        }
        const around = dateAt(high, inZone)
        for (const days of [-1, 0, 1]) {
          const date = addDays(around, days)
          const start = startOfDate(date, inZone)
          expect(wallDate(start, inZone) >= date).toBe(true)
          for (let back = 1; back <= 30 * HOUR; back += 1_200_000)
            expect(wallDate(start - back, inZone) < date).toBe(true)
        }
        expect(startOfDate(around, inZone)).toBeLessThanOrEqual(high)
      }),
      { numRuns: everydayOr(20, 80) },
    )
  })

  test('the date is what the wall shows, except where clocks went back across midnight: dates never go back', () => {
    fc.assert(
      fc.property(zone, instant, (inZone, at) => {
        expect(dateAt(at, inZone) >= wallDate(at, inZone)).toBe(true)
        expect(dateAt(at + 1, inZone) >= dateAt(at, inZone)).toBe(true)
        const date = dateAt(at, inZone)
        expect(wallDate(startOfDate(date, inZone), inZone)).toBe(date)
      }),
      { numRuns: 1_500 },
    )
    expect(dateAt(utc('2009-11-01T02:30:30Z'), 'America/St_Johns')).toBe('2009-11-01')
    expect(wallDate(utc('2009-11-01T02:31:30Z'), 'America/St_Johns')).toBe('2009-10-31')
    expect(dateAt(utc('2009-11-01T02:31:30Z'), 'America/St_Johns')).toBe('2009-11-01')
  })

  test('the answer does not depend on what was asked before', () => {
    const dates = Array.from({ length: 1_200 }, (_, n) => addDays('2026-01-01', n))
    const first = dates.map(date => startOfDate(date, 'Europe/Madrid'))
    expect(dates.map(date => startOfDate(date, 'Europe/Madrid'))).toEqual(first)
    expect(dates.toReversed().map(date => startOfDate(date, 'Europe/Madrid'))).toEqual(first.toReversed())
  })
})

describe('the boundary', () => {
  test.each([
    ['America/New_York', '2026-02-14T12:00:00Z', '2026-03-01T05:00:00Z', 'in winter'],
    ['America/New_York', '2026-03-14T12:00:00Z', '2026-04-01T04:00:00Z', 'over the change to summer time'],
    ['America/New_York', '2026-11-01T03:59:59.999Z', '2026-11-01T04:00:00Z', 'the last millisecond'],
    [
      'America/New_York',
      '2026-11-01T04:00:00Z',
      '2026-12-01T05:00:00Z',
      'at the boundary itself the next one',
    ],
    ['America/New_York', '2026-12-31T23:00:00Z', '2027-01-01T05:00:00Z', 'still December there'],
    ['Australia/Sydney', '2026-09-30T14:00:00Z', '2026-10-31T13:00:00Z', 'the southern spring'],
    ['Pacific/Kiritimati', '2024-01-31T10:00:00Z', '2024-02-29T10:00:00Z', 'a leap day, seen from UTC'],
    ['Pacific/Apia', '2011-12-29T12:00:00Z', '2011-12-31T10:00:00Z', 'over a date that never was'],
    ['America/St_Johns', '2009-11-01T02:40:00Z', '2009-12-01T03:30:00Z', 'clocks went back into October'],
    ['America/Asuncion', '2017-09-30T12:00:00Z', '2017-10-01T04:00:00Z', 'no midnight on the first'],
  ])('%s after %s: %s (%s)', (inZone, from, expected) => {
    expect(boundaryAfter(utc(from), inZone)).toBe(utc(expected))
  })

  test('is later than now, the first instant of a month, and the next one: none is skipped', () => {
    fc.assert(
      fc.property(zone, instant, (inZone, at) => {
        const start = startOfDate(`${wallDate(at, inZone).slice(0, 7)}-01` as PlainDate, inZone)
        const boundary = boundaryAfter(at, inZone)
        expect(start).toBeLessThanOrEqual(at)
        expect(boundary).toBeGreaterThan(at)
        expect(wallDate(boundary, inZone)).toMatch(/-01$/)
        expect(wallDate(boundary - 1, inZone).slice(0, 7) < wallDate(boundary, inZone).slice(0, 7)).toBe(true)
        expect(boundaryAfter(start, inZone)).toBe(boundary)
        expect(boundaryAfter(boundary - 1, inZone)).toBe(boundary)
      }),
      { numRuns: 1_000 },
    )
  })

  test('comes no earlier for a later instant', () => {
    fc.assert(
      fc.property(zone, instant, fc.integer({ min: 0, max: 70 * DAY }), (inZone, at, later) => {
        expect(boundaryAfter(at + later, inZone)).toBeGreaterThanOrEqual(boundaryAfter(at, inZone))
      }),
      { numRuns: 500 },
    )
  })

  test.each(['America/New_York', 'Australia/Sydney', 'Africa/Casablanca', 'Asia/Gaza'])(
    'walking from boundary to boundary in %s meets each month of sixty years once',
    inZone => {
      let at = startOfDate('2000-01-01', inZone)
      for (let month = 0; month < 732; month++) {
        const first = DateTime.utc(2000, 1, 1).plus({ months: month }).toFormat('yyyy-MM-dd')
        expect(dateAt(at, inZone)).toBe(first)
        at = boundaryAfter(at, inZone)
      }
    },
  )

  test('changes lock a number of real hours before it, also in a night with a change of clocks', () => {
    const november = utc('2026-11-01T04:00:00Z')
    expect(lockedFrom(november, 24)).toBe(utc('2026-10-31T04:00:00Z'))
    const april = boundaryAfter(utc('2024-03-30T12:00:00Z'), 'Europe/Paris')
    expect(formatTimestamp(lockedFrom(april, 24))).toBe('2024-03-30T22:00:00.000Z')
    expect(isLocked(utc('2026-10-31T03:59:59.999Z'), november, 24)).toBe(false)
    expect(isLocked(utc('2026-10-31T04:00:00Z'), november, 24)).toBe(true)
    expect(isLocked(november + 1, november, 24)).toBe(true)
    expect(isLocked(november - 1, november, 0)).toBe(false)
  })
})

describe('ages', () => {
  test.each([
    ['1990-03-27', '2026-03-26', 35],
    ['1990-03-27', '2026-03-27', 36],
    ['2000-02-29', '2023-02-28', 22],
    ['2000-02-29', '2023-03-01', 23],
    ['2000-02-29', '2024-02-28', 23],
    ['2000-02-29', '2024-02-29', 24],
    ['1900-12-31', '2026-01-01', 125],
    ['2026-05-01', '2026-05-01', 0],
    ['2026-05-01', '2026-04-30', -1],
  ] as const)('born %s, on %s: %i', (dob, date, age) => expect(ageOn(dob, date)).toBe(age))

  test('an age is reached on the date of that age, not a day before', () => {
    expect(dateOfAge('2000-02-29', 65)).toBe('2065-03-01')
    expect(dateOfAge('2000-02-29', 64)).toBe('2064-02-29')
    fc.assert(
      fc.property(birthDate, fc.integer({ min: 0, max: 130 }), (dob, age) => {
        const date = dateOfAge(dob, age)
        expect(ageOn(dob, date)).toBe(age)
        expect(ageOn(dob, addDays(date, -1))).toBe(age - 1)
      }),
    )
  })

  test('nobody gets younger, nor older by two in one day', () => {
    fc.assert(
      fc.property(birthDate, dateOf('1900-01-01', 58_000), (dob, date) => {
        const grown = ageOn(dob, addDays(date, 1)) - ageOn(dob, date)
        expect([0, 1]).toContain(grown)
      }),
    )
  })
})

describe('the effective instant', () => {
  const now = utc('2026-03-05T15:30:00Z')
  const newYork = (date: string | undefined) => effectiveInstant(date, now, 'America/New_York')

  test('is now without a date and for today, else the first instant of the date', () => {
    expect(newYork(undefined)).toEqual({ ok: true, at: now })
    expect(newYork('2026-03-05')).toEqual({ ok: true, at: now })
    expect(newYork('2026-03-06')).toEqual({ ok: true, at: utc('2026-03-06T05:00:00Z') })
    expect(newYork('2026-03-09')).toEqual({ ok: true, at: utc('2026-03-09T04:00:00Z') })
    expect(newYork('2026-06-03')).toEqual({ ok: true, at: utc('2026-06-03T04:00:00Z') })
  })

  test('is refused for the past, for more than 90 days ahead, and for what is no date', () => {
    expect(newYork('2026-03-04')).toEqual({ ok: false, reason: 'past' })
    expect(newYork('2026-06-04')).toEqual({ ok: false, reason: 'toofarahead' })
    for (const text of ['', '2026-02-29', '03/05/2026', '2026-03-06T00:00:00.000Z'])
      expect(newYork(text)).toEqual({ ok: false, reason: 'notadate' })
  })

  test('reads “today” in the partner’s zone', () => {
    const at = utc('2026-03-06T03:00:00Z')
    expect(effectiveInstant('2026-03-05', at, 'America/New_York')).toEqual({ ok: true, at })
    expect(effectiveInstant('2026-03-05', at, 'UTC')).toEqual({ ok: false, reason: 'past' })
  })

  test('is never before now, and in the date that was asked for', () => {
    fc.assert(
      fc.property(zone, instant, fc.integer({ min: 0, max: 90 }), (inZone, at, days) => {
        const date = addDays(dateAt(at, inZone), days)
        const effective = effectiveInstant(date, at, inZone)
        if (!effective.ok) throw new Error(effective.reason)
        expect(effective.at).toBeGreaterThanOrEqual(at)
        // A date that the zone skipped begins with the one after it.
        const skipped = startOfDate(date, inZone) === startOfDate(addDays(date, 1), inZone)
        expect(dateAt(effective.at, inZone)).toBe(skipped ? addDays(date, 1) : date)
      }),
      { numRuns: 500 },
    )
  })
})

describe('limits', () => {
  test('a cancel at a period’s end can be undone until a midnight 30 days later, over a change of clocks too', () => {
    const march = startOfDate('2026-03-01', 'America/New_York')
    expect(reinstatableUntil(march, 'America/New_York')).toBe(startOfDate('2026-03-31', 'America/New_York'))
    const october = startOfDate('2018-10-05', 'America/Sao_Paulo')
    expect(reinstatableUntil(october, 'America/Sao_Paulo')).toBe(
      startOfDate('2018-11-04', 'America/Sao_Paulo'),
    )
  })

  test('an immediate cancel can be undone until the same time of day 30 days later', () => {
    expect(formatTimestamp(reinstatableUntil(utc('2026-03-02T17:20:00Z'), 'America/New_York'))).toBe(
      '2026-04-01T16:20:00.000Z',
    )
  })

  test('the 25th hour of a day does not reach into the 31st day after', () => {
    const lateEvening = utc('2026-11-02T04:40:00Z')
    expect(dateAt(lateEvening, 'America/New_York')).toBe('2026-11-01')
    expect(reinstatableUntil(lateEvening, 'America/New_York')).toBe(
      startOfDate('2026-12-02', 'America/New_York'),
    )
  })

  test('a later cancel is never undoable for shorter, and the limit lies in the 30th day after or at its end', () => {
    fc.assert(
      fc.property(zone, instant, fc.integer({ min: 0, max: 2 * DAY }), (inZone, at, later) => {
        const until = reinstatableUntil(at, inZone)
        expect(reinstatableUntil(at + later, inZone)).toBeGreaterThanOrEqual(until)
        const last = addDays(dateAt(at, inZone), 30)
        expect(until).toBeGreaterThanOrEqual(startOfDate(last, inZone))
        expect(until).toBeLessThanOrEqual(startOfDate(addDays(last, 1), inZone))
      }),
      { numRuns: 500 },
    )
  })

  test('a prefill expires 90 times 24 hours after its last write', () => {
    expect(formatTimestamp(prefillExpiresAt(utc('2026-01-31T10:00:00Z')))).toBe('2026-05-01T10:00:00.000Z')
  })
})

describe('timestamps', () => {
  test('what is written is read back', () => {
    expect(formatTimestamp(utc('2026-03-05T15:30:00Z'))).toBe('2026-03-05T15:30:00.000Z')
    fc.assert(
      fc.property(fc.integer({ min: utc('0001-01-01'), max: utc('9999-12-31T23:59:59.999Z') }), at => {
        expect(parseTimestamp(formatTimestamp(at))).toBe(at)
      }),
    )
    expect(() => formatTimestamp(utc('9999-12-31T23:59:59.999Z') + 1)).toThrow(RangeError)
    expect(() => formatTimestamp(Number.NaN)).toThrow(RangeError)
  })

  test.each([
    '2026-03-05T15:30:00Z',
    '2026-03-05 15:30:00.000Z',
    '2026-03-05T15:30:00.000',
    '2026-03-05T15:30:00.000+00:00',
    '2026-03-05t15:30:00.000z',
    '2026-03-05T24:00:00.000Z',
    '0000-12-31T23:59:59.999Z',
    '2026-03-05T23:59:60.000Z',
    '2026-02-30T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-03-05T15:30:00.000Z\n',
    '',
  ])('%j is none', text => expect(parseTimestamp(text)).toBeUndefined())

  test('where the description says date-time, each form of RFC 3339 is taken, and nothing that does not exist', () => {
    const taken = ['30:00Z', '30:00.5Z', '30:00.123456789Z', '30:00+00:00', '30:00.000-05:30']
    expect(taken.map(end => `2026-03-05T15:${end}`).filter(text => !isDateTime(text))).toEqual([])
    expect(
      [
        '2026-03-05',
        '2026-03-05T15:30:00',
        '2026-03-05T15:30:00+24:00',
        '2026-02-30T00:00:00Z',
        '2026-03-05T24:00:00Z',
        '0001-01-01T00:00:00+00:01',
        '9999-12-31T23:59:59-00:01',
        '',
      ].filter(isDateTime),
    ).toEqual([])
  })
})

test('a local timestamp is what a clock of the zone shows, with its offset', () => {
  const instants = fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(2100, 0) })
  const zones = fc.constantFrom(
    'UTC',
    'America/New_York',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'America/St_Johns',
  )
  fc.assert(
    fc.property(instants, zones, (at, inZone) => {
      const expected = DateTime.fromMillis(at, { zone: inZone }).toFormat('yyyy-MM-dd HH:mm:ss.SSS ZZ')
      expect(localTimestamp(at, inZone)).toBe(expected)
    }),
  )
})
