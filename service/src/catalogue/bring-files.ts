import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { judgeFile, type MediaType } from '../files/file-kind.ts'
import { hashOf, type NewFile } from '../files/store.ts'
import { type CatalogueDocument, readCatalogue, writeDocument } from './document.ts'
import { type FileMention, isShippedName } from './file-paths.ts'
import type { Benefit } from './model.ts'
import { type ParsedCatalogue, parseCatalogue, type RefusedCatalogue } from './parse.ts'
import type { Problem } from './problem.ts'
import { shippedIcons } from './shipped-icons.ts'

/** A catalogue with the files that it brings, ready to be published. */
export type WholeCatalogue = ParsedCatalogue & { readonly brought: readonly NewFile[] }

/**
 * Reads a catalogue and the files that it names, whose paths are relative to `folder`. A refusal contains all problems:
 * those of the text or, once the text is right, unknown icons and files that are missing, too large or of the wrong
 * kind.
 */
export async function readWholeCatalogue(
  yamlText: string,
  folder: string,
): Promise<WholeCatalogue | RefusedCatalogue> {
  const parsed = parseCatalogue(yamlText)
  return parsed.ok ? bringFiles(parsed, folder) : parsed
}

async function bringFiles(
  parsed: ParsedCatalogue,
  folder: string,
): Promise<WholeCatalogue | RefusedCatalogue> {
  const problems: Problem[] = []
  const brought = new Map<string, NewFile>()
  const addresses = new Map<string, string>()
  for (const mention of parsed.files) {
    const read = await bring(mention, folder)
    if ('refused' in read) problems.push({ ...mention.position, message: read.refused })
    else if (read.file) {
      const hash = hashOf(read.file.content)
      brought.set(hash, read.file)
      addresses.set(mention.path, `${hash}/${basename(mention.path)}`)
    }
  }
  if (problems.length > 0) return { ok: false, problems }
  const document = withAddresses(parsed.document, addresses)
  return { ...parsed, document, catalogue: readCatalogue(document), brought: [...brought.values()] }
}

const kinds: Readonly<Record<FileMention['use'], readonly MediaType[]>> = {
  icon: ['image/png', 'image/webp'],
  document: ['application/pdf'],
}

async function bring(
  { path, use }: FileMention,
  folder: string,
): Promise<{ readonly file?: NewFile } | { readonly refused: string }> {
  if (use === 'icon' && isShippedName(path)) {
    if (shippedIcons().has(path)) return {}
    const known = [...shippedIcons().keys()].sort().join(', ')
    return { refused: `nobody serves the icon "${path}"; use one of ${known}, or bring a PNG or WebP file` }
  }
  let content: Buffer
  try {
    content = await readFile(join(folder, path))
  } catch (error) {
    const { code = 'unknown' } = error as { code?: string }
    const remedy = 'put it beside the catalogue or correct the path'
    return { refused: `the file "${path}" cannot be read (${code}); ${remedy}` }
  }
  const judged = judgeFile(content, kinds[use])
  return 'refused' in judged
    ? { refused: `the file "${path}" ${judged.refused}` }
    : { file: { mediaType: judged.mediaType, content } }
}

function withAddresses(
  document: CatalogueDocument,
  addresses: ReadonlyMap<string, string>,
): CatalogueDocument {
  const at = (path: string) => addresses.get(path) ?? path
  const benefits = document.benefits.map((benefit): Benefit => {
    const { documents } = benefit
    return {
      ...benefit,
      icon: at(benefit.icon),
      ...(documents && { documents: documents.map(one => ({ ...one, file: at(one.file) })) }),
    }
  })
  return writeDocument({ ...document, benefits })
}
