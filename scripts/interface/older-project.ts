// Compiled by TypeScript 5 with `moduleResolution: node10`, which reads `main` and `types` alone, then run as CommonJS:
// the client as a project finds it that has not moved to newer settings. The types must be real ones, not `any`.
import { createClient, isBenefitEnrolmentError, webhooks } from '@benefit-enrolment/client'

const client = createClient({
  baseUrl: 'http://127.0.0.1:1',
  clientId: 'c',
  clientSecret: 's',
  apiKey: 'k',
  tries: 1,
})
function misspelled() {
  // @ts-expect-error: a field that the interface does not have.
  return client.prefillUser({ userid: 'u-1', frstname: 'Ada' })
}
declare function require(name: string): { strictEqual(value: unknown, expected: unknown): void }
const { strictEqual } = require('node:assert')

strictEqual(typeof misspelled, 'function')
strictEqual(typeof webhooks.verify, 'function')
client.getBenefits({ userid: 'u-1', age: 36, state: 'FL', zipcode: '33101' }).then(
  () => strictEqual('an answer', 'none, as nobody listens there'),
  (error: unknown) => strictEqual(isBenefitEnrolmentError(error) && error.code, 'network'),
)
