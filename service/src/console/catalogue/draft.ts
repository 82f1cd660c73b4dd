import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { noPartner } from '../../audit/entries.ts'
import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import { type FileSource, readCatalogueWith, type WholeCatalogue } from '../../catalogue/bring-files.ts'
import { type Difference, differencesOf } from '../../catalogue/difference.ts'
import { type CatalogueDocument, readCatalogue } from '../../catalogue/document.ts'
import { type Catalogue, emptyCatalogue } from '../../catalogue/model.ts'
import { describeProblem, type Problem } from '../../catalogue/problem.ts'
import { listVersions } from '../../catalogue/published.ts'
import { checkSuccession } from '../../catalogue/succession.ts'
import type { Executor } from '../../db/database.ts'
import { findFile } from '../../files/store.ts'
import type { Keyring } from '../../vault/keyring.ts'
import { unwrapKey, wrapKey } from '../../vault/seal.ts'
import type { UploadedFile } from '../screen/screen.ts'

/** A checked catalogue that is not published yet: its content, and the version that it would follow. */
export type Draft = {
  readonly document: CatalogueDocument
  readonly catalogue: Catalogue
  /** The newest version when the draft was checked; 0: none. */
  readonly follows: number
  readonly differences: readonly Difference[]
  /** The id of what publishing would do: it stays the same while neither the draft nor the newest version changes. */
  readonly effect: string
}

/** An uploaded file as a draft, or all its problems, one line each. */
export async function readUpload(
  db: Executor,
  files: readonly UploadedFile[],
): Promise<{ draft: Draft; brought: WholeCatalogue['brought'] } | { problems: readonly string[] }> {
  const file = files.find(one => one.field === 'catalogue')
  if (!file) return { problems: ['Choose the catalogue, a YAML file.'] }
  const versions = await listVersions(db)
  const newest = versions.at(-1)
  const parsed = await readCatalogueWith(
    file.content.toString('utf8'),
    fileSource(db, files, newest?.catalogue),
  )
  const refuse = (problems: readonly Problem[]) => ({ problems: problems.map(describeProblem) })
  if (!parsed.ok) return refuse(parsed.problems)
  const breaks = checkSuccession(
    parsed,
    versions.map(one => one.catalogue),
  )
  if (breaks.length > 0) return refuse(breaks)
  const draft = draftOf(parsed.document, { version: newest?.version ?? 0, catalogue: newest?.catalogue })
  return { draft, brought: parsed.brought }
}

/** Finds files by their name: among the uploaded ones, else among those of the newest version. */
function fileSource(db: Executor, files: readonly UploadedFile[], newest: Catalogue | undefined): FileSource {
  const sent = new Map(files.filter(one => one.field === 'files').map(one => [one.name, one.content]))
  const stored = new Map(addressesOf(newest).map(address => [nameOf(address), address]))
  return async path => {
    const content = sent.get(nameOf(path))
    if (content) return { content }
    const [hash] = stored.get(nameOf(path))?.split('/') ?? []
    const known = hash === undefined ? undefined : await findFile(db, hash)
    return (
      known ?? {
        refused: `the file "${path}" did not come along, and the newest version has none of this name; choose it beside the catalogue`,
      }
    )
  }
}

function addressesOf(catalogue: Catalogue | undefined): string[] {
  return [...(catalogue?.benefits.values() ?? [])]
    .flatMap(({ icon, documents }) => [icon, ...(documents ?? []).map(one => one.file)])
    .filter(address => address.includes('/'))
}

function nameOf(path: string): string {
  return path.split('/').at(-1) ?? path
}

/** A checked document as a draft to follow a version. */
export function draftOf(
  document: CatalogueDocument,
  newest: { readonly version: number; readonly catalogue: Catalogue | undefined },
): Draft {
  const catalogue = readCatalogue(document)
  const before = newest.catalogue ?? emptyCatalogue
  const hash = createHash('sha256').update(JSON.stringify(document)).digest('hex')
  return {
    document,
    catalogue,
    follows: newest.version,
    differences: differencesOf(before, catalogue),
    effect: `after version ${newest.version}: ${hash}`,
  }
}

const binding = { purpose: 'console.catalogue_draft', partnerId: noPartner }
const DRAFT_MS = DAY_MS

/**
 * A draft as a form field. Nobody can alter it, so exactly the checked content is published, whichever process gets the
 * form; it is valid for a day.
 */
export function sealDraft(keyring: Keyring, { document }: Draft, now: Instant): string {
  const packed = gzipSync(JSON.stringify({ document, until: now + DRAFT_MS }))
  return wrapKey(keyring.rootKeys.current, packed, binding).toString('base64')
}

/** The document of such a field; `undefined` when this service did not make it, or it is too old. */
export function openDraft(keyring: Keyring, field: string, now: Instant): CatalogueDocument | undefined {
  try {
    const packed = unwrapKey(keyring.rootKey, Buffer.from(field, 'base64'), binding)
    const { document, until } = JSON.parse(gunzipSync(packed).toString('utf8')) as {
      document: CatalogueDocument
      until: Instant
    }
    return now < until ? document : undefined
  } catch {
    return undefined
  }
}
