import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { DatabaseAddress } from '../../service/src/db/database.ts'

/**
 * The fate of a COMMIT. `before`: the connection is cut and the server never sees the COMMIT. `after`: the server
 * commits, and its answer is cut off. `late`: the connection is cut, and the server commits half a second later.
 * `silent`: the server commits, and no answer ever comes on a connection that stays open.
 */
export type Fate = 'before' | 'after' | 'late' | 'silent'

/** A proxy before a PostgreSQL that can lose the answer of a commit. */
export type PostgresProxy = {
  readonly url: string
  /** Applies this fate to the next COMMIT of a transaction that contains these bytes; resolves when it has happened. */
  arm(fate: Fate, marker: string): Promise<void>
  close(): Promise<void>
}

const LATE_MS = 500

/** Starts a proxy on a free loopback port. */
export async function startPostgresProxy(address: DatabaseAddress): Promise<PostgresProxy> {
  const target = targetOf(address)
  const sockets = new Set<Socket>()
  let armed: { fate: Fate; marker: Buffer; fulfil: () => void } | undefined

  const server = createServer(client => {
    const upstream = connect(target.connection)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    let sentInTransaction: Buffer[] = []
    let commit: Buffer[] = []
    let isSilent = false
    const messages = splitMessages()
    client.on('data', chunk => {
      for (const message of messages(chunk)) {
        if (runs(message, 'begin')) sentInTransaction = []
        sentInTransaction.push(message)
        // A commit that is bound takes place once it is executed: all up to the Sync is held back.
        if (commit.length > 0 || runs(message, 'commit')) commit.push(message)
        else upstream.write(message)
        if (commit.length === 0 || (message[0] !== SYNC && message[0] !== QUERY)) continue
        const held = Buffer.concat(commit)
        commit = []
        if (!armed || !Buffer.concat(sentInTransaction).includes(armed.marker)) {
          upstream.write(held)
          continue
        }
        const { fate, fulfil } = armed
        armed = undefined
        meet(fate, held)
        fulfil()
        return
      }
    })
    const meet = (fate: Fate, commit: Buffer): void => {
      if (fate === 'before') {
        upstream.destroy()
        client.destroy()
      } else if (fate === 'late') {
        client.destroy()
        setTimeout(() => upstream.end(commit), LATE_MS)
      } else {
        isSilent = true
        let answers = Buffer.alloc(0)
        upstream.on('data', chunk => {
          // Each statement has an answer of its own; the last is that of the commit.
          answers = Buffer.concat([answers, chunk])
          if (fate === 'silent' || !answers.includes('COMMIT\0')) return
          client.destroy()
          // A server of a few hundred such cuts would have no connection left to give.
          upstream.destroy()
        })
        upstream.write(commit)
      }
    }
    upstream.on('data', chunk => {
      if (!isSilent) client.write(chunk)
    })
    // A `late` commit must still be sent after the client is gone.
    client.on('end', () => upstream.end())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `postgres://${target.user}@127.0.0.1:${port}/${target.database}`,
    arm: (fate, marker) =>
      new Promise(fulfil => {
        armed = { fate, marker: Buffer.from(marker), fulfil }
      }),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function targetOf(address: DatabaseAddress) {
  if (!('url' in address)) {
    const { host, port, user, database } = address
    return { user, database, connection: { path: `${host}/.s.PGSQL.${port}` } }
  }
  const url = new URL(address.url)
  const user = url.password ? `${url.username}:${url.password}` : url.username
  const host = decodeURIComponent(url.hostname)
  const connection = host.startsWith('/')
    ? { path: `${host}/.s.PGSQL.${url.port || 5432}` }
    : { host, port: Number(url.port || 5432) }
  return { user, database: url.pathname.slice(1), connection }
}

const QUERY = 0x51
const BIND = 0x42
const SYNC = 0x53

/** Whether it begins or commits: as a simple query, or by the name of a prepared statement in an unnamed portal. */
function runs(message: Buffer, text: string): boolean {
  const isSimple = message[0] === QUERY && message.subarray(5).equals(Buffer.from(`${text}\0`))
  const bound = Buffer.from(`\0${text}\0`)
  return isSimple || (message[0] === BIND && message.subarray(5, 5 + bound.length).equals(bound))
}

/** Splits the bytes of a client into messages; the first message has no type before its length. */
function splitMessages() {
  let rest = Buffer.alloc(0)
  let isFirst = true
  return (chunk: Buffer): Buffer[] => {
    rest = Buffer.concat([rest, chunk])
    const messages: Buffer[] = []
    for (;;) {
      const lengthAt = isFirst ? 0 : 1
      if (rest.length < lengthAt + 4) return messages
      const length = lengthAt + rest.readInt32BE(lengthAt)
      if (rest.length < length) return messages
      messages.push(rest.subarray(0, length))
      rest = rest.subarray(length)
      isFirst = false
    }
  }
}
