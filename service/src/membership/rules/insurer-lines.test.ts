import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addDays, type PlainDate } from '../../calendar/calendar.ts'
import {
  afterLine,
  type CoverNow,
  type InsurerLine,
  linesFor,
  nextDayToTell,
  type ToldCover,
} from './insurer-lines.ts'

type Truth = CoverNow & { readonly name: string }

function day(offset: number): PlainDate {
  return addDays('2026-06-01' as PlainDate, offset)
}
function cover(from: number, until?: number, name = 'Ada'): Truth {
  return {
    startsOn: day(from),
    endsOn: until === undefined ? undefined : day(until),
    goneOn: until === undefined ? undefined : day(until + 1),
    isMoved: false,
    name,
  }
}

/** An insurer: every line that it was sent, and which of them it refused. */
function insurer() {
  const log: { line: InsurerLine<Truth>; refused: boolean }[] = []
  const told = (): ToldCover[] => {
    const newest = new Map<number, ToldCover>()
    for (const { line, refused } of log) if (!refused) newest.set(line.number, afterLine(line))
    return [...newest.values()]
  }
  return {
    log,
    knows: () => told().filter(one => !one.isVoid),
    run(truth: readonly Truth[], today: number, aheadDays = 0) {
      const horizon = { today: day(today), aheadDays }
      const lines = linesFor(told(), truth, { horizon, detailsOf: one => one.name })
      for (const line of lines) log.push({ line, refused: false })
      return lines.map(({ action, startsOn, endsOn }) => [action, startsOn, endsOn ?? ''])
    },
  }
}

describe('the lines for an insurer', () => {
  test('tell a life with every kind of line', () => {
    const { run } = insurer()
    expect(run([cover(0)], 0)).toEqual([['add', day(0), '']])
    expect(run([cover(0, undefined, 'Ada King')], 1)).toEqual([['change', day(0), '']])
    expect(run([cover(-3, undefined, 'Ada King')], 2)).toEqual([['correct', day(-3), '']])
    expect(run([cover(-3, 9, 'Ada King')], 2)).toEqual([])
    expect(run([cover(-3, 9, 'Ada King')], 10)).toEqual([['end', day(-3), day(9)]])
    expect(run([cover(-3, undefined, 'Ada King')], 11)).toEqual([['reinstate', day(-3), '']])
    expect(run([], 12)).toEqual([['void', day(-3), '']])
    expect(run([cover(13)], 13)).toEqual([['add', day(13), '']])
  })

  test('tell planned starts and ends as many days ahead as asked, and take back what is then undone', () => {
    const { run } = insurer()
    expect(run([cover(20)], 0, 10)).toEqual([])
    expect(nextDayToTell([cover(20)], { today: day(0), aheadDays: 10 })).toBe(day(10))
    expect(run([cover(20)], 10, 10)).toEqual([['add', day(20), '']])
    expect(run([cover(20, 30)], 11, 30)).toEqual([['end', day(20), day(30)]])
    expect(run([cover(20, 30)], 11, 0)).toEqual([])
    expect(run([cover(20)], 12, 30)).toEqual([['reinstate', day(20), '']])
    expect(run([], 13, 30)).toEqual([['void', day(20), '']])
  })

  test('say a cover that comes back after a gap again, beside the end of the former one', () => {
    const { run } = insurer()
    run([cover(0)], 0)
    expect(run([cover(0, 4), cover(8)], 8)).toEqual([
      ['end', day(0), day(4)],
      ['reinstate', day(8), ''],
    ])
  })

  test('tell an end in the middle of a day on that day, and nothing of a cover that came and went unheard', () => {
    const { run } = insurer()
    const ended = { ...cover(0, 0), goneOn: day(0) }
    expect(run([ended], 0)).toEqual([])
    run([cover(0)], 0)
    expect(run([ended], 0)).toEqual([['end', day(0), day(0)]])
  })

  test('say again what the insurer’s own list has otherwise', () => {
    const horizon = { today: day(5), aheadDays: 0 }
    const again = (truth: Truth) => {
      const told = [{ number: 1, ...truth, details: truth.name, isVoid: false, isDoubted: true }]
      return linesFor(told, [truth], { horizon, detailsOf: one => one.name }).map(({ action }) => action)
    }
    expect([again(cover(0)), again(cover(0, 3))]).toEqual([['correct'], ['end']])
  })

  test('correct a cover that an operator moved away from all of its days', () => {
    const { run } = insurer()
    run([cover(0)], 0)
    run([cover(0, 4)], 5)
    expect(run([{ ...cover(7, 9), isMoved: true }], 20)).toEqual([['correct', day(7), day(9)]])
  })
})

/** Periods of cover that never touch, the last one perhaps open. */
const truths = fc
  .tuple(
    fc.array(fc.integer({ min: 2, max: 30 }), { maxLength: 6 }),
    fc.boolean(),
    fc.constantFrom('Ada', 'Eve'),
  )
  .map(([gaps, isOpen, name]) => {
    let at = -40
    const points = gaps.map(gap => (at += gap))
    const covers: Truth[] = []
    for (let index = 0; index + 1 < points.length; index += 2)
      covers.push(cover(points[index] ?? 0, (points[index + 1] ?? 0) - 2, name))
    const open = points.length % 2 === 1 ? points.at(-1) : undefined
    return (isOpen && open !== undefined ? [...covers, cover(open, undefined, name)] : covers).filter(
      one => one.endsOn === undefined || one.endsOn >= one.startsOn,
    )
  })
const lives = fc.array(
  fc.tuple(truths, fc.integer({ min: 0, max: 9 }), fc.array(fc.nat(20), { maxLength: 3 })),
  { minLength: 1, maxLength: 8 },
)

test('after a run the insurer knows the truth, and a second run sends nothing, whatever was corrected, voided or refused before', () => {
  fc.assert(
    fc.property(lives, fc.nat(12), (life, aheadDays) => {
      const { log, knows, run } = insurer()
      let today = 0
      for (const [truth, days, refusals] of life) {
        today += days
        const everTold = log.length > 0
        const lines = run(truth, today, aheadDays)
        const last = day(today + aheadDays)
        for (const told of knows()) {
          const now = truth.find(one => one.startsOn === told.startsOn)
          const isTold =
            told.endsOn === now?.endsOn ||
            (told.endsOn === undefined && addDays(now?.endsOn ?? last, 1) > last)
          expect([now?.name, isTold]).toEqual([told.details, true])
        }
        const due = truth.filter(
          one => one.startsOn <= last && (one.endsOn === undefined || one.endsOn >= day(today)),
        )
        const known = new Set(knows().map(one => one.startsOn))
        expect(due.filter(one => !known.has(one.startsOn))).toEqual([])
        if (!everTold) expect(lines.filter(([, , until]) => until && until < day(today))).toEqual([])
        expect(run(truth, today, aheadDays)).toEqual([])
        for (const index of refusals) {
          const refused = log[log.length - 1 - index]
          if (refused) refused.refused = true
        }
      }
    }),
  )
})
