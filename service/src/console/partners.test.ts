import { expect, test } from 'vitest'
import type { Operator } from './operators/operator.ts'
import { ownPartners } from './partners.ts'
import type { Visit } from './screen/screen.ts'

test('the partners of an operator are read once for each request', async () => {
  let reads = 0
  const database = {
    query: async () => {
      reads += 1
      return [
        { partner_id: 'a', name: 'Aviso', is_disabled: false },
        { partner_id: 'b', name: 'Bravo', is_disabled: true },
      ]
    },
  }
  const visitOf = (partners: readonly string[] | undefined) =>
    ({
      context: { database },
      operator: { role: 'viewer', partners } as unknown as Operator,
    }) as unknown as Visit
  const visit = visitOf(undefined)
  const both = await Promise.all([ownPartners(visit), ownPartners(visit)])
  expect(both.map(all => all.map(({ name }) => name))).toEqual([
    ['Aviso', 'Bravo'],
    ['Aviso', 'Bravo'],
  ])
  expect(reads).toBe(1)
  expect(await ownPartners(visitOf(['b']))).toEqual([{ partnerId: 'b', name: 'Bravo', isDisabled: true }])
  expect(reads).toBe(2)
})
