import { expect, test } from 'vitest'
import { explainConnection } from './connection-check.ts'

test('a node of a cluster that does not answer is named, as the coordinator runs', () => {
  const away = Object.assign(
    new Error(
      'connection to the remote node app@10.0.0.7:5432 failed with the following error: Connection refused',
    ),
    { code: '08006' },
  )
  expect(explainConnection(away)).toBe(
    'The node 10.0.0.7:5432 of the cluster does not answer, and this needs it: start it, or see what works without it (docs/scaling.md, "Operating a cluster").',
  )
})

test('a lock that another session holds, and a statement that took too long, are not a server that does not run', () => {
  for (const code of ['55P03', '57014'])
    expect(explainConnection(Object.assign(new Error('canceling statement'), { code }))).toMatch(
      /^The database answers, but took too long/,
    )
})
