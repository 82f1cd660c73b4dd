import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Partner } from '../../partners/partner.ts'
import { newUser, type User } from '../rules/state.ts'
import { openUserMemory, type UserMemory } from './user-memory.ts'

const partner = { name: 'one' } as Partner
const other = { name: 'another' } as Partner
function userOf(userid: string, changes: Partial<User> = {}): User {
  return {
    ...newUser({ partnerId: 'p', serviceId: `service of ${userid}`, userid, at: 0 }),
    ...changes,
  }
}
function nameOf(userid: string) {
  return { partnerId: 'p', userid }
}
/** Keeps a user as one who was read before. */
function keep(memory: UserMemory, user: User, version: number) {
  memory.keepIfReadAgain(user, version)
  return memory.keepIfReadAgain(user, version)
}

describe('users', () => {
  test('never take more than the bound, and who was asked for longest ago is forgotten first', () => {
    const steps = fc.array(fc.record({ user: fc.nat(9), isKept: fc.boolean(), length: fc.nat(3000) }))
    fc.assert(
      fc.property(steps, taken => {
        let clock = 0
        const memory = openUserMemory(() => (clock += 1000), 6000)
        /** In the order in which they were asked for. */
        let recent: string[] = []
        for (const { user, isKept, length } of taken) {
          const userid = `u${user}`
          const found = isKept ? keep(memory, userOf(userid), 1) : memory.find(nameOf(userid))
          if (found) recent = [userid, ...recent.filter(one => one !== userid)]
          found?.answers?.keep(
            `q${length}`,
            { partner, catalogue: 1, now: 0 },
            { json: Buffer.alloc(length), until: 1 },
          )
          const { users, bytes } = memory.numbers()
          expect(users === 1 || bytes <= 6000).toBe(true)
          recent = recent.slice(0, users)
        }
        for (const userid of recent) expect(memory.find(nameOf(userid))?.user.userid).toBe(userid)
      }),
    )
  })

  test('who are read by turns, a thousand of them, are all kept from their second read on', () => {
    const memory = openUserMemory(() => 0)
    const users = Array.from({ length: 1000 }, (_, number) => {
      const serviceId = createHash('sha256').update(`${number}`).digest('hex')
      return userOf(`u${number}`, { serviceId })
    })
    for (const user of users) memory.keepIfReadAgain(user, 1)
    expect(memory.numbers().users).toBe(0)
    for (const user of users) memory.keepIfReadAgain(user, 1)
    expect(memory.numbers().users).toBe(1000)
  })

  test('are kept as last told, and gone when forgotten, erased, cleared or not asked for', () => {
    let now = 0
    const memory = openUserMemory(() => now)
    keep(memory, userOf('u'), 1)
    keep(memory, userOf('u', { prefillCount: 2 }), 2)
    expect(memory.find(nameOf('u'))).toMatchObject({ version: 2, user: { prefillCount: 2 } })
    keep(memory, userOf('u', { status: 'erased', erasedAt: 1 }), 3)
    expect(memory.find(nameOf('u'))).toBeUndefined()
    for (const end of [() => memory.forget(nameOf('u')), memory.clear]) {
      keep(memory, userOf('u'), 1)
      end()
      expect(memory.find(nameOf('u'))).toBeUndefined()
    }
    keep(memory, userOf('old'), 1)
    now += 5 * 60_000
    keep(memory, userOf('new'), 1)
    now += 6 * 60_000
    memory.tidy()
    expect(memory.find(nameOf('old'))).toBeUndefined()
    expect(memory.find(nameOf('new'))).toBeDefined()
    expect(memory.numbers().users).toBe(1)
    memory.clear()
    expect(memory.numbers()).toMatchObject({ users: 0, bytes: 0 })
  })
})

test('an answer is given for the same question, partner, catalogue and time only', () => {
  const answers = openUserMemory(() => 0).shared
  const from = { partner, catalogue: 1, now: 100 }
  const said = Buffer.from('said')
  answers.keep('asked', from, { json: said, until: 200 })
  expect(answers.find('asked', from)).toBe(said)
  expect(answers.find('asked', { ...from, now: 199 })).toBe(said)
  expect(answers.find('asked', { ...from, now: 200 })).toBeUndefined()
  expect(answers.find('asked', { ...from, now: 99 })).toBeUndefined()
  expect(answers.find('asked', { ...from, catalogue: 2 })).toBeUndefined()
  expect(answers.find('asked', { ...from, partner: other })).toBeUndefined()
  expect(answers.find('else', from)).toBeUndefined()
})

test('of one user the last three answers are kept', () => {
  const memory = openUserMemory(() => 0)
  const { answers } = keep(memory, userOf('u'), 1)
  if (!answers) throw new Error('it was not kept')
  const before = memory.numbers().bytes
  const from = { partner, catalogue: 1, now: 0 }
  for (const asked of ['a', 'b', 'c', 'd']) answers.keep(asked, from, { json: Buffer.from('text'), until: 1 })
  expect(['a', 'b', 'c', 'd'].map(asked => answers.find(asked, from)?.toString())).toEqual([
    undefined,
    'text',
    'text',
    'text',
  ])
  expect(memory.numbers().bytes - before).toBe(3 * 5)
})

test('a user who is read is kept from the second time on, and in place of what is known', () => {
  const memory = openUserMemory(() => 0)
  const read = userOf('read', { serviceId: '01920000-0000-7000-8000-0123456789ab' })
  expect(memory.keepIfReadAgain(read, 1).answers).toBeUndefined()
  expect(memory.find(nameOf('read'))).toBeUndefined()
  expect(memory.keepIfReadAgain(read, 1).answers).toBeDefined()
  expect(memory.find(nameOf('read'))).toMatchObject({ version: 1 })
  expect(memory.keepIfReadAgain(read, 2).version).toBe(2)
  expect(memory.find(nameOf('read'))).toMatchObject({ version: 2 })
})

test('a user who was written is kept from the second time on, and in place of what is known', () => {
  for (const status of ['prefilled', 'active'] as const) {
    const memory = openUserMemory(() => 0)
    const written = userOf('new', { status, serviceId: '01920000-0000-7000-8000-0123456789ab' })
    memory.keepWritten(written, 1)
    expect(memory.find(nameOf('new'))).toBeUndefined()
    memory.keepIfReadAgain(written, 1)
    memory.keepWritten(written, 2)
    expect(memory.find(nameOf('new'))).toMatchObject({ version: 2 })
    memory.keepWritten({ ...written, status: 'erased' }, 3)
    expect(memory.find(nameOf('new'))).toBeUndefined()
  }
})

test('answers for many take a bounded room, and what was kept longest ago leaves first', () => {
  const { shared } = openUserMemory(() => 0, 6000, 1000)
  const from = { partner, catalogue: 1, now: 0 }
  for (let number = 0; number < 50; number += 1)
    shared.keep(`q${number}`, from, { json: Buffer.alloc(100), until: 1 })
  const kept = Array.from({ length: 50 }, (_, number) => shared.find(`q${number}`, from) !== undefined)
  expect(kept.lastIndexOf(false)).toBe(40)
  expect(kept.filter(Boolean)).toHaveLength(9)
})
