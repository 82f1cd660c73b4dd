import { expect, test } from 'vitest'
import { HOUR_MS } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import type { Partner } from '../../partners/partner.ts'
import { MOST_AN_HOUR, openRefusedCreates } from './refused-creates.ts'

const ONE = '019abc12-3456-7890-abcd-000000000001'
const OTHER = '019abc12-3456-7890-abcd-000000000002'

test('a partner that is refused all the time fills its log to a bound in each hour, and takes nothing from another', async () => {
  let written = 0
  const database: Pick<Database, 'query' | 'of' | 'cellOf'> = {
    of: () => database as Database,
    cellOf: () => '',
    query: async ({ text, values }) => {
      const [column] = values.filter(Array.isArray)
      if (text.includes('insert into refused_creates')) written += column?.length ?? 0
      return []
    },
  }
  const note = openRefusedCreates(database as Database)
  const at = Date.parse('2027-02-10T15:00:00Z')
  const refused = { requestId: '019abc12-3456-7890-abcd-ef0123456789', code: 'invalid', reasons: [] }
  const partner = (partnerId: string) => ({ partnerId, hashKey: Buffer.alloc(32) }) as unknown as Partner
  for (let count = 0; count < MOST_AN_HOUR + 50; count += 1) note(partner(ONE), 'u', { ...refused, at })
  await expect.poll(() => written).toBe(MOST_AN_HOUR)
  note(partner(OTHER), 'u', { ...refused, at })
  await expect.poll(() => written).toBe(MOST_AN_HOUR + 1)
  note(partner(ONE), 'u', { ...refused, at: at + HOUR_MS })
  await expect.poll(() => written).toBe(MOST_AN_HOUR + 2)
})
