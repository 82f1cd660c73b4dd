// @databases citus

import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'

function int32(value: number) {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
function message(kind: string, body: Buffer) {
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body])
}
/** The answer of a PostgreSQL that admits a session and in the same moment ends it. */
const welcomeAndEnd = Buffer.concat([
  message('R', int32(0)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')),
])

test('a connection that is ended with its first answer refuses the query and ends nothing else', async () => {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(welcomeAndEnd))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const database = openDatabase(
    { url: `postgres://someone@127.0.0.1:${port}/none` },
    { max: 1, onError: () => {} },
  )
  const query = { name: 'one', text: 'select 1', values: [] }
  // An error without a listener would end this process.
  for (let count = 0; count < 3; count += 1) {
    await expect(database.query(query)).rejects.toThrow()
    await expect(database.transaction(tx => tx.query(query))).rejects.toThrow()
  }
  await database.close()
  await new Promise(resolve => server.close(resolve))
})
