import { texts } from '../../db/binary-array.ts'
import { columnOf } from '../../db/columns.ts'
import type { Layout } from '../../db/database.ts'
import { namingPartners, part, type Query, rowsOf, sql } from '../../db/sql.ts'
import { ids } from '../records/user-ids.ts'
import type { DocumentChange } from './batch-writes.ts'

/** Adds the sealed documents of new users, who have none yet: an upsert would cost 2 to 3 µs more for each document. */
export function insertDocuments(changes: readonly DocumentChange[], layout: Layout): Query {
  return sql`
    insert into documents (partner_id, service_id, kind, sealed, written_at)
    select * from ${documentRows(changes, layout)}`
}

/** Writes sealed documents, in the place of those that are there. */
export function writeDocuments(changes: readonly DocumentChange[], layout: Layout): Query {
  return sql`
    insert into documents (partner_id, service_id, kind, sealed, written_at)
    select * from ${documentRows(changes, layout)}
    on conflict (partner_id, service_id, kind) do update set sealed = excluded.sealed, written_at = excluded.written_at`
}

function documentRows(changes: readonly DocumentChange[], layout: Layout) {
  return rowsOf(layout, {
    partner_id: columnOf.uuid(changes.map(({ user }) => user.partnerId)),
    service_id: columnOf.uuid(changes.map(({ user }) => user.serviceId)),
    kind: columnOf.text(changes.map(change => change.kind)),
    sealed: columnOf.bytes(changes.map(change => change.sealed)),
    written_at: columnOf.instant(changes.map(change => change.writtenAt)),
  })
}

/** Deletes documents. */
export function deleteDocuments(changes: readonly DocumentChange[], { isSpread }: Layout): Query {
  const { partners, services } = ids(changes.map(change => change.user))
  const naming = namingPartners(isSpread, partners)
  return sql`
    delete from documents d
    using unnest(${partners}::uuid[], ${services}::uuid[], ${texts(changes.map(change => change.kind))}::text[])
      as gone (partner_id, service_id, kind)
    where d.partner_id = gone.partner_id and d.service_id = gone.service_id and d.kind = gone.kind
      ${naming(part`d.partner_id`)}`
}
