import { expect, test } from 'vitest'
import { DAY_MS } from '../../calendar/calendar.ts'
import type { Catalogue } from '../../catalogue/model.ts'
import type { RefusedCreate } from '../../membership/records/refused-creates.ts'
import type { LinkRow } from '../user-data/store.ts'
import { newestCause } from './sentence.ts'

const real = Date.UTC(2030, 4, 20, 12)
const link: LinkRow = {
  session_id: '',
  made_by: null,
  purpose: 'registration',
  delivery: 'sms',
  created_at: real - 3 * DAY_MS,
  token_expires_at: real - 2 * DAY_MS,
  spent_at: null,
  revoked_at: null,
  last_seen_at: null,
  birthdate_tries: 0,
  birthdate_passed_at: null,
  last_view: null,
  signed_out_at: null,
  outcome: null,
  reference: null,
}
const opened = { ...link, spent_at: real - 3 * DAY_MS, last_seen_at: real - 2 * DAY_MS }
const locked = { ...opened, outcome: 'challengefailed', birthdate_tries: 5, last_seen_at: real - DAY_MS }
const refused: readonly RefusedCreate[] = [
  { at: real - 2 * DAY_MS, requestId: '', code: 'not_eligible', reasons: [] },
]
const catalogue: Catalogue = { offers: new Map(), benefits: new Map() } as unknown as Catalogue
function causeOf(links: readonly LinkRow[], attempts: readonly RefusedCreate[] = []) {
  return newestCause({ links, refused: attempts, catalogue, zone: 'America/New_York', real })
}

test.each([
  ['a link that expired', [link], 'the link expired unused on May 18, 2030', true],
  ['one that can be opened yet', [{ ...link, token_expires_at: real + 1 }], 'is not opened yet', false],
  ['a step of the page', [{ ...opened, last_view: 'CHECK_ANSWERS' }], 'stopped at the last step', true],
  ['wrong birth dates', [locked, opened], 'locked out on May 19, 2030 by 5 wrong birth dates', true],
] as const)('what kept somebody from enrolling is told: %s', (_, links, words, wantsLink) => {
  const cause = causeOf(links)
  expect(cause?.words).toContain(words)
  expect(cause?.wantsLink).toBe(wantsLink)
})

test('of several causes the newest is told, and a link that led to an enrollment is none', () => {
  expect(causeOf([opened, locked], refused)?.words).toContain('locked out')
  expect(causeOf([link], [{ at: real, requestId: '', code: 'not_eligible', reasons: [] }])?.words).toContain(
    'an attempt to enroll was refused on May 20, 2030',
  )
  expect(causeOf([{ ...opened, outcome: 'enrolled' }])).toBeUndefined()
})
