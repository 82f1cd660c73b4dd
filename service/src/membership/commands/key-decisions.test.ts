import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KeyReservation } from '../../idempotency/key-reservation.ts'
import type { SeenKey } from '../reading/load.ts'
import { newUser, type User } from '../rules/state.ts'
import { judgeKey } from './key-decisions.ts'

const day = 86_400_000
const now = Date.UTC(2027, 2, 10)
function hash(text: string) {
  return Buffer.from(text.padEnd(32))
}
const firstAnswer = { told: 'at first' }

/** The situation: a first request, what has happened to its user since, and how long ago each thing happened. */
type Story = {
  mode: KeyReservation['mode']
  isSame: boolean
  isMine: boolean
  /** Days since the entry was last written, since the key was spent, and since an erasure. */
  writtenAgo: number
  spentAgo: number
  erasedAgo: number | undefined
  /** Prefills after the first one. */
  newer: number
  /** A new user has taken the name of the erased one. */
  isNameTaken: boolean
}

const story: fc.Arbitrary<Story> = fc
  .record({
    mode: fc.constantFrom('prefill', 'keyed', 'erase'),
    isSame: fc.boolean(),
    isMine: fc.constant(false),
    writtenAgo: fc.double({ min: 0, max: 200, noNaN: true }),
    spentAgo: fc.double({ min: 0, max: 3, noNaN: true }),
    erasedAgo: fc.option(fc.double({ min: 0, max: 3, noNaN: true }), { nil: undefined }),
    newer: fc.nat(3),
    isNameTaken: fc.boolean(),
  })
  .map(told => told as Story)

function judge(told: Story) {
  const serviceId = 'first'
  const erasedAt = told.erasedAgo === undefined ? undefined : now - told.erasedAgo * day
  const writtenAt = now - told.writtenAgo * day
  const named = (id: string): User => ({
    ...newUser({ partnerId: 'p', serviceId: id, userid: 'u1', at: 0 }),
    prefillCount: 1 + told.newer,
    prefillWrittenAt: writtenAt,
  })
  const first: User = {
    ...named(serviceId),
    status: erasedAt === undefined ? 'prefilled' : 'erased',
    erasedAt,
  }
  const current = erasedAt !== undefined && told.isNameTaken ? named('second') : first
  const expiresAt =
    erasedAt !== undefined
      ? erasedAt + day
      : told.mode === 'prefill'
        ? writtenAt + 90 * day
        : now - told.spentAgo * day + day
  const seen: SeenKey = {
    requestHash: hash('first'),
    attemptId: 'attempt-1',
    serviceId,
    prefillNumber: told.mode === 'prefill' ? 1 : undefined,
    expiresAt,
    answer: () => firstAnswer,
    userErasedAt: erasedAt,
    userWrittenAt: writtenAt,
  }
  const reservation: KeyReservation = {
    operation: 'op',
    keyHash: hash('key'),
    requestHash: hash(told.isSame ? 'first' : 'another'),
    attemptId: told.isMine ? 'attempt-1' : 'attempt-2',
    mode: told.mode,
  }
  const decision = judgeKey(reservation, seen, {
    now,
    real: now,
    userid: 'u1',
    current,
    dataKey: () => undefined,
  })
  return { decision, isLapsed: expiresAt <= now, erasedAt }
}

function always(check: (told: Story, judged: ReturnType<typeof judge>) => void, stories = story) {
  return fc.assert(
    fc.property(stories, told => {
      check(told, judge(told))
    }),
    { numRuns: 500 },
  )
}

describe('a seen key', () => {
  test('is free exactly when its time is over: 90 days from the last write, 24 h from the rest', () => {
    always((_, { decision, isLapsed }) => expect(decision === undefined).toBe(isLapsed))
  })

  test('never lets another request through while it lives', () => {
    always(
      (_, { decision, isLapsed, erasedAt }) => {
        if (isLapsed) return
        expect(decision).toMatchObject({ replayed: false })
        if (erasedAt === undefined) expect(decision).toMatchObject({ refused: 'idempotency_key_reused' })
      },
      story.map(told => ({ ...told, isSame: false })),
    )
  })

  test('of an erased user is user_erased, but for the erase itself, which gets its answer again', () => {
    always(
      (told, { decision, isLapsed, erasedAt }) => {
        if (isLapsed) return
        if (told.mode !== 'erase') expect(decision).toMatchObject({ refused: 'user_erased' })
        else if (!told.isSame) expect(decision).toMatchObject({ refused: 'idempotency_key_reused' })
        else {
          expect(decision).toMatchObject({
            replayed: true,
            reply: {
              userid: 'u1',
              serviceid: 'first',
              status: 'erased',
              erasedat: new Date(erasedAt ?? 0).toISOString(),
            },
          })
        }
      },
      story.map(told => ({ ...told, erasedAgo: told.erasedAgo ?? 0.5 })),
    )
  })

  test('of a prefill tells whether newer data has come since', () => {
    always(
      (told, { decision, isLapsed }) => {
        if (isLapsed) return
        const refused = told.newer > 0 ? 'prefill_superseded' : 'user_exists'
        expect(decision).toEqual({ refused, reasons: [], replayed: true })
      },
      story.map(told => ({ ...told, mode: 'prefill', isSame: true, erasedAgo: undefined })),
    )
  })

  test('of another write gives the first answer again', () => {
    always(
      (_, { decision, isLapsed }) => {
        if (isLapsed) return
        expect(decision).toEqual({ reply: firstAnswer, replayed: true })
      },
      story.map(told => ({ ...told, mode: 'keyed', isSame: true, erasedAgo: undefined })),
    )
  })

  test('reserved by this very attempt, whose commit was lost, is a success and no replay', () => {
    always(
      (told, { decision }) => {
        const reply = told.mode === 'prefill' ? 'prefill saved' : firstAnswer
        expect(decision).toEqual({ reply, replayed: false })
      },
      story.map(told => ({ ...told, isMine: true, isSame: true, erasedAgo: undefined })),
    )
  })
})
