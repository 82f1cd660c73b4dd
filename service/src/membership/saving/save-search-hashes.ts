import { type Columns, column, listOf, namesOf, within } from '../../db/columns.ts'
import type { Layout } from '../../db/database.ts'
import { part, type Query, sql } from '../../db/sql.ts'
import { namingUsers, userKey } from '../records/user-ids.ts'
import type { User } from '../rules/state.ts'
import type { SearchHash } from './search-hashes.ts'

type Row = { readonly user: User } & SearchHash

const key: Columns<Row> = {
  ...within(userKey, ({ user }: Row) => user),
  kind: column.text(row => row.kind),
}
const hashes: Columns<Row> = { ...key, hash: column.bytes(row => row.hash) }

/** Writes the hashes of changed accounts, and deletes those of values that an account no longer has. */
export function saveSearchHashes(rows: readonly Row[], layout: Layout): Query[] {
  const kept = rows.filter(row => row.hash !== undefined)
  const gone = rows.filter(row => row.hash === undefined)
  return [
    ...(kept.length > 0 ? [writeHashes(kept, layout)] : []),
    ...(gone.length > 0 ? [deleteHashes(gone, layout)] : []),
  ]
}

function writeHashes(rows: readonly Row[], layout: Layout): Query {
  return sql`
    insert into search_hashes (${namesOf(hashes)})
    select * from ${listOf(layout, hashes, rows)}
    on conflict (partner_id, service_id, kind) do update set hash = excluded.hash`
}

function deleteHashes(rows: readonly Row[], layout: Layout): Query {
  const naming = namingUsers(
    layout,
    rows.map(({ user }) => user),
  )
  return sql`
    delete from search_hashes t using ${listOf(layout, key, rows)}
    where t.partner_id = row.partner_id and t.service_id = row.service_id and t.kind = row.kind
      ${naming(part`t.partner_id`)}`
}
