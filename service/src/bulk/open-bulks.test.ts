import { expect, test } from 'vitest'
import { countOpenBulks } from './open-bulks.ts'

test('eight bulks of a partner are open at once, those of processes beside it included, and those of one that ended not', () => {
  const told: { process: number; partnerId: string; open: number }[] = []
  const here = countOpenBulks(open => told.push(open))
  const ends = Array.from({ length: 5 }, () => here.begin('a'))
  expect(told.at(-1)).toEqual({ process: process.pid, partnerId: 'a', open: 5 })
  here.note({ process: 1, partnerId: 'a', open: 3 })
  expect(here.begin('a')).toBeUndefined()
  expect(here.begin('b')).toBeDefined()
  here.forget(1)
  expect(here.begin('a')).toBeDefined()
  here.note({ process: 2, partnerId: 'a', open: 2 })
  expect(here.begin('a')).toBeUndefined()
  ends[0]?.()
  expect(here.begin('a')).toBeDefined()
})
