import { expect, test } from 'vitest'
import type { Partner } from '../../partners/partner.ts'
import type { Command } from '../command.ts'
import { openNewcomers } from './batch.ts'

function commandOf(partnerId: string, more: Partial<Command<unknown>> = {}): Command<unknown> {
  const partner = { partnerId } as Partner
  const decide: Command<unknown>['decide'] = () => ({ answer: () => undefined })
  return { partner, userid: 'u', who: 'partner', why: 'prefill', startsAnew: true, decide, ...more }
}

test('only commands that create users are taken for newcomers', () => {
  const creating = commandOf('p')
  const guessed = openNewcomers().guess([creating, commandOf('p', { startsAnew: false })])
  expect([...guessed]).toEqual([creating])
})

test('after one user who was there, the next 300 of its partner and kind are read, and the count begins anew with each', () => {
  const newcomers = openNewcomers()
  const command = commandOf('p')
  const isGuessed = (one = command) => newcomers.guess([one]).has(one)
  const learn = (times: number) => {
    for (let count = 0; count < times; count += 1) newcomers.learn(command, true)
  }
  newcomers.learn(command, false)
  expect(isGuessed()).toBe(false)
  expect(isGuessed(commandOf('other'))).toBe(true)
  expect(isGuessed(commandOf('p', { why: 'create' }))).toBe(true)
  learn(299)
  expect(isGuessed()).toBe(false)
  newcomers.learn(command, false)
  learn(299)
  expect(isGuessed()).toBe(false)
  learn(1)
  expect(isGuessed()).toBe(true)
})
