import { bytes, texts } from '../../db/binary-array.ts'
import type { Layout } from '../../db/database.ts'
import { namingPartners, part, type Query, sql } from '../../db/sql.ts'
import { ids } from '../records/user-ids.ts'
import type { User } from '../rules/state.ts'
import type { SearchHash } from './search-hashes.ts'

type Row = { readonly user: User } & SearchHash

/** Writes the hashes of changed accounts, and deletes those of values that an account no longer has. */
export function saveSearchHashes(rows: readonly Row[], layout: Layout): Query[] {
  const kept = rows.filter(row => row.hash !== undefined)
  const gone = rows.filter(row => row.hash === undefined)
  return [
    ...(kept.length > 0 ? [writeHashes(kept)] : []),
    ...(gone.length > 0 ? [deleteHashes(gone, layout)] : []),
  ]
}

function writeHashes(rows: readonly Row[]): Query {
  const { partners, services } = ids(rows.map(({ user }) => user))
  return sql`
    insert into search_hashes (partner_id, service_id, kind, hash)
    select * from unnest(${partners}::uuid[], ${services}::uuid[], ${texts(rows.map(({ kind }) => kind))}::text[],
      ${bytes(rows.map(({ hash }) => hash))}::bytea[])
    on conflict (partner_id, service_id, kind) do update set hash = excluded.hash`
}

function deleteHashes(rows: readonly Row[], { isSpread }: Layout): Query {
  const { partners, services } = ids(rows.map(({ user }) => user))
  const naming = namingPartners(isSpread, partners)
  return sql`
    delete from search_hashes t
    using unnest(${partners}::uuid[], ${services}::uuid[], ${texts(rows.map(({ kind }) => kind))}::text[])
      as gone (partner_id, service_id, kind)
    where t.partner_id = gone.partner_id and t.service_id = gone.service_id and t.kind = gone.kind
      ${naming(part`t.partner_id`)}`
}
