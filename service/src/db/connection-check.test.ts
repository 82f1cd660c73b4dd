import { expect, test } from 'vitest'
import { explainConnection } from './connection-check.ts'

test('a lock that another session holds, and a statement that took too long, are not a server that does not run', () => {
  for (const code of ['55P03', '57014'])
    expect(explainConnection(Object.assign(new Error('canceling statement'), { code }))).toMatch(
      /^The database answers, but took too long/,
    )
})
