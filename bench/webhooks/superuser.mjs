import pg from 'pg'

/** Runs this with a connection as the superuser of the server at `address`, and closes the connection afterwards. */
export async function asSuperuser(address, work) {
  const client = new pg.Client({ ...address, user: 'postgres' })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
