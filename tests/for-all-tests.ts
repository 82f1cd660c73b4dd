import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'

type Closed = { close?: () => unknown; [Symbol.asyncDispose]?: () => unknown }

/**
 * What `start` makes, for all tests of the file or `describe` that calls this. It is made before the first of them, in
 * the order of the calls, and closed after the last, in the reverse order, if it can be closed. Reading it earlier
 * throws.
 */
export function forAllTests<T extends object>(start: () => Promise<T>): T {
  return standIn(start, { before: beforeAll, after: afterAll })
}

/** The same, made anew before each of these tests, and closed after it. */
export function forEachTest<T extends object>(start: () => Promise<T>): T {
  return standIn(start, { before: beforeEach, after: afterEach })
}

type Hook = (run: () => Promise<void>) => void

/** Tests name it when they are collected, before it is made, so they get a stand-in that leads to it. */
function standIn<T extends object>(start: () => Promise<T>, when: { before: Hook; after: Hook }): T {
  let started: T | undefined
  const read = () => {
    if (!started) throw new Error('this is made before the first test, and read in hooks and tests only')
    return started
  }
  when.before(async () => {
    started = await start()
  })
  when.after(async () => {
    const { close, [Symbol.asyncDispose]: dispose }: Closed = started ?? {}
    await (dispose ?? close)?.call(started)
  })
  return new Proxy({} as T, {
    get: (_standIn, key) => {
      const value: unknown = Reflect.get(read(), key)
      return typeof value === 'function' ? value.bind(started) : value
    },
    set: (_standIn, key, value) => Reflect.set(read(), key, value),
    has: (_standIn, key) => Reflect.has(read(), key),
    ownKeys: () => Reflect.ownKeys(read()),
    getOwnPropertyDescriptor: (_standIn, key) => {
      const property = Reflect.getOwnPropertyDescriptor(read(), key)
      return property && { ...property, configurable: true }
    },
  })
}
