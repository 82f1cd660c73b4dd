import { expect, test } from 'vitest'
import { traceIdOf, traceparentOf } from './trace-context.ts'

const trace = '0af7651916cd43dd8448eb211c80319c'
const parent = 'b7ad6b7169203331'

test.each([`00-${trace}-${parent}-01`, `00-${trace}-${parent}-00`])('%s is taken as it is', sent => {
  expect(traceparentOf({ traceparent: sent })).toBe(sent)
})

test('of a later version the parts that are known are taken', () => {
  const sent = `cc-${trace}-${parent}-01-what-the-future-brings`
  expect(traceparentOf({ traceparent: sent })).toBe(`00-${trace}-${parent}-01`)
})

test.each([
  undefined,
  `00-${trace}-${parent}-01-more`,
  `ff-${trace}-${parent}-01`,
  `00-${'0'.repeat(32)}-${parent}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${parent}-01`,
  `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
])('%s is not taken', sent => {
  expect(traceparentOf({ traceparent: sent })).toBeUndefined()
})

test('the id of the trace is what a log line names', () => {
  expect(traceIdOf(`00-${trace}-${parent}-01`)).toBe(trace)
})
