/**
 * Files that operators bring: documents, icons and logos. They are stored once by the hash of their content, so an address
 * always names the same bytes.
 */
import { createHash } from 'node:crypto'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import type { MediaType } from './file-kind.ts'

/** A file; files with equal content are the same file. */
export type NewFile = { readonly mediaType: MediaType; readonly content: Buffer }

/** The SHA-256 of a file's content as 64 hexadecimal digits: the name by which the file is stored and served. */
export function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Stores files. A file that is stored already stays as it is. */
export async function storeFiles(
  db: Executor,
  files: readonly NewFile[],
  by: { readonly at: number; readonly who: string },
): Promise<void> {
  for (const { mediaType, content } of files) {
    await db.query(sql`
      insert into files (hash, media_type, content, stored_at, stored_by)
      values (${Buffer.from(hashOf(content), 'hex')}, ${mediaType}, ${content}, ${timestamp(by.at)}, ${by.who})
      on conflict (hash) do nothing`)
  }
}

/** A stored file by its hash in hexadecimal; `undefined` when there is none. */
export async function findFile(db: Executor, hash: string): Promise<NewFile | undefined> {
  const [row] = await db.query<{ media_type: MediaType; content: Buffer }>(sql`
    select media_type, content from files where hash = ${Buffer.from(hash, 'hex')}`)
  return row && { mediaType: row.media_type, content: row.content }
}
