import { describeInterface } from '@benefit-enrolment/contract'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { everydayOr } from '../../../tests/long.ts'
import { defaultTurnLimits } from '../http/shedding/shedding.ts'
import { serviceVersion } from '../version.ts'
import { readDescription } from './description.ts'

const limits = {
  ...defaultTurnLimits,
  bodyKib: 64,
  bodyNesting: 8,
  headers: 64,
  headersKib: 8,
  headersSeconds: 10,
  requestSeconds: 15,
  failedAuthentications: 60,
}

describe.each(['json', 'yaml'] as const)('the description as %s, for any address', form => {
  const read = (text: string): unknown => (form === 'json' ? JSON.parse(text) : parse(text))
  // The last one has what is hardest to insert.
  const addresses = [
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    "https://benefits.example.com:8443/it's/$&/stage",
  ]
  test.each(everydayOr(addresses.slice(-1), addresses))(
    'says for a service at %s what the contract says (else: npm run build)',
    async baseUrl => {
      for (const version of ['1.0.1', '1.0.2'] as const)
        for (const sandbox of [false, true]) {
          const service = { baseUrl, version, sandbox, limits }
          const said = JSON.parse(JSON.stringify(describeInterface(service))) as { info: object }
          expect(read(await readDescription(form, service))).toEqual({
            ...said,
            info: { ...said.info, 'x-service-version': serviceVersion },
          })
        }
    },
  )
})
