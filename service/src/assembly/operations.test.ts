import type { OperationIdOf } from '@benefit-enrolment/contract'
import { expectTypeOf, test } from 'vitest'
import type { sandboxHandlers } from '../sandbox/handlers.ts'
import type { partnerHandlers } from './operations.ts'

type OfEveryService = ReturnType<typeof partnerHandlers>
type OfSandbox = ReturnType<typeof sandboxHandlers>

// The compiler holds these (`npm run types`); a run of the tests erases them.
test('each operation of a partner has a handler, and without one nothing compiles', () => {
  expectTypeOf<keyof OfEveryService | keyof OfSandbox | 'bulk'>().toEqualTypeOf<OperationIdOf<'partner'>>()
  expectTypeOf<Record<never, never>>().not.toExtend<OfEveryService>()
  expectTypeOf<Record<never, never>>().not.toExtend<OfSandbox>()
  expectTypeOf<Omit<OfEveryService, 'getUser'>>().not.toExtend<OfEveryService>()
  // @ts-expect-error: `advanceClock` is missing.
  const none: OfSandbox = {}
  void none
})
