import type { Database } from '../../service/src/db/database.ts'
import { type Query, sql } from '../../service/src/db/sql.ts'

/**
 * A database that stores each partner on a node of its own, as far as the service can see, whatever it runs on.
 * `first` sees each statement that is outside a transaction before the database does: it may hold it up, or throw.
 */
export function partnersApart(database: Database, first: (statement: Query) => unknown): Database {
  const layout = { ...database.layout, isSpread: true }
  const query = async <Row>(statement: Query): Promise<Row[]> => {
    if (statement.text.includes('pg_dist_placement')) {
      const rows = await database.query<{ id: string }>(sql`select partner_id::text as id from partners`)
      return rows.map(({ id }) => ({ name: id, partner_ids: [id] }) as Row)
    }
    await first(statement)
    return database.query<Row>(statement)
  }
  return {
    ...database,
    layout,
    query,
    transaction: work => database.transaction(tx => work({ ...tx, layout })),
  }
}
