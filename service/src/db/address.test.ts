import { expect, test } from 'vitest'
import { serverOf, urlsOf } from './address.ts'

test('a URL of several nodes is one URL for each, with the same user, database and options', () => {
  expect(urlsOf('postgresql://app:a,b%40c@one:5432,10.0.0.7:5433,three/db?sslmode=verify-full')).toEqual([
    'postgresql://app:a,b%40c@one:5432/db?sslmode=verify-full',
    'postgresql://app:a,b%40c@10.0.0.7:5433/db?sslmode=verify-full',
    'postgresql://app:a,b%40c@three/db?sslmode=verify-full',
  ])
})

test.each(['postgres://app@one/db', 'postgres:///db?host=/run/a,b', 'postgres://app@/db?host=/run'])(
  '%s is one server',
  url => {
    expect(urlsOf(url)).toEqual([url])
  },
)

test('a server is named without user and password', () => {
  expect(serverOf({ url: 'postgres://app:secret@one/db' })).toBe('one:5432')
  expect(serverOf({ url: 'postgres://app:secret@one:6000/db?x=y' })).toBe('one:6000')
})
