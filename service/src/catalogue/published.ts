import type { Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { type Query, sql, timestamp } from '../db/sql.ts'
import { type NewFile, storeFiles } from '../files/store.ts'
import { readCatalogue } from './document.ts'
import { type Catalogue, emptyCatalogue } from './model.ts'

/** One published version of the catalogue. */
type PublishedCatalogue = { readonly version: number; readonly catalogue: Catalogue }

/** The published versions, answered from memory; the newest is looked for again when older than one second. */
export type Published = {
  /** Loads these versions and the newest into memory; `undefined` when they are there already. */
  prepare(versions: readonly number[]): Promise<void> | undefined
  /** The newest version; an empty catalogue while nothing is published. */
  today(): PublishedCatalogue
  /** A version that was loaded by `prepare`, or an empty catalogue. */
  version(version: number): Catalogue
}

const FRESH_MS = 1000

/** Opens the published versions. */
export function openPublished(context: { database: Database; real: () => Instant }): Published {
  const { database, real } = context
  const known = new Map<number, Catalogue>()
  let newest = 0
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  const readNewest = async (): Promise<void> => {
    const startedAt = real()
    const [row] = await database.query<{ version: number }>(
      sql`select max(version) as version from catalogue_versions having max(version) is not null`,
    )
    if (row && !known.has(row.version)) await read([row.version])
    newest = row?.version ?? 0
    readAt = startedAt
  }
  const read = async (versions: readonly number[]): Promise<void> => {
    const rows = await database.query<{ version: number; document: unknown }>(
      sql`select version, document from catalogue_versions where version = any(${versions}::integer[])`,
    )
    for (const row of rows) known.set(row.version, readCatalogue(row.document))
  }

  const isMissing = (version: number): boolean => version > 0 && !known.has(version)
  const bring = async (versions: readonly number[]): Promise<void> => {
    if (real() - readAt >= FRESH_MS) {
      reading ??= readNewest().finally(() => {
        reading = undefined
      })
      await reading
    }
    const missing = [...new Set(versions)].filter(isMissing)
    if (missing.length > 0) await read(missing)
  }

  return {
    prepare: versions =>
      real() - readAt < FRESH_MS && !versions.some(isMissing) ? undefined : bring(versions),
    today: () => ({ version: newest, catalogue: known.get(newest) ?? emptyCatalogue }),
    version: version => known.get(version) ?? emptyCatalogue,
  }
}

/**
 * The published versions as they are now, unaffected by later ones; with a candidate, as if it had just been published
 * as the next version.
 */
export function withCandidate(published: Published, candidate: Catalogue | undefined): Published {
  const newest = published.today()
  const next = newest.version + 1
  const today = candidate ? { version: next, catalogue: candidate } : newest
  return {
    prepare: versions => published.prepare(versions.filter(version => version <= newest.version)),
    today: () => today,
    version: version => (version === today.version ? today.catalogue : published.version(version)),
  }
}

/** All versions, oldest first; a new one is checked against them. */
export async function listVersions(db: Executor): Promise<PublishedCatalogue[]> {
  const rows = await db.query<{ version: number; document: unknown }>(
    sql`select version, document from catalogue_versions order by version`,
  )
  return rows.map(row => ({ version: row.version, catalogue: readCatalogue(row.document) }))
}

/** When a version was published, and by whom. */
export type Publication = { readonly version: number; readonly publishedAt: Instant; readonly by: string }

/** All publications, newest first. */
export async function listPublications(db: Executor): Promise<Publication[]> {
  const rows = await db.query<{ version: number; published_at: Instant; published_by: string }>(
    sql`select version, published_at, published_by from catalogue_versions order by version desc`,
  )
  return rows.map(row => ({ version: row.version, publishedAt: row.published_at, by: row.published_by }))
}

/** The catalogue of a version, or `undefined`. */
export async function readVersion(db: Executor, version: number): Promise<Catalogue | undefined> {
  const [row] = await db.query<{ document: unknown }>(
    sql`select document from catalogue_versions where version = ${version}`,
  )
  return row && readCatalogue(row.document)
}

/** A catalogue to publish, when and by whom. */
type Publishing = {
  readonly document: unknown
  readonly files: readonly NewFile[]
  readonly at: Instant
  readonly by: string
  /** Looks at the earlier versions, and throws if this one contradicts them; no version is published meanwhile. */
  readonly check?: (tx: Executor) => Promise<void>
}

/**
 * Publishes the next version with its files, runs `also` in the same transaction, and returns its number. If the newest
 * version has the same content, nothing is published or run, and its number is returned.
 */
export async function publishVersion(
  database: Database,
  fresh: Publishing,
  also: readonly Query[] = [],
): Promise<{ version: number; isNew: boolean }> {
  return database.transaction(async tx => {
    // Publishing is rare and done by people: two publications at once take turns.
    await tx.query(sql`lock table catalogue_versions in share row exclusive mode`)
    const text = JSON.stringify(fresh.document)
    const [newest = { version: 0, same: false }] = await tx.query<{ version: number; same: boolean }>(sql`
      select version, document = ${text}::jsonb as same from catalogue_versions order by version desc limit 1`)
    const { at, by } = fresh
    if (newest.same) return { version: newest.version, isNew: false }
    await fresh.check?.(tx)
    const version = newest.version + 1
    await storeFiles(tx, fresh.files, { at, who: by })
    await tx.query(sql`
      insert into catalogue_versions (version, document, published_at, published_by)
      values (${version}, ${text}::jsonb, ${timestamp(at)}, ${by})`)
    for (const query of also) await tx.query(query)
    return { version, isNew: true }
  })
}
