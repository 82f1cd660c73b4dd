import { checkAcross } from './check-across.ts'
import { checkForm } from './check-form.ts'
import { type CatalogueDocument, readCatalogue, writeDocument } from './document.ts'
import type { FileMention } from './file-paths.ts'
import type { Catalogue } from './model.ts'
import { openYaml } from './open-yaml.ts'
import type { Problem, SourcePosition } from './problem.ts'
import { benefitOf, offerOf, type WrittenCatalogue } from './written.ts'

/** A catalogue file without problems: the catalogue, the value to store, and the position of each benefit and offer. */
export type ParsedCatalogue = {
  readonly ok: true
  readonly catalogue: Catalogue
  readonly document: CatalogueDocument
  readonly positions: ReadonlyMap<string, SourcePosition>
  /** The icons and files that the catalogue names, which are not checked here. */
  readonly files: readonly FileMention[]
}

/** A catalogue file that cannot be published: all its problems, from top to bottom. */
export type RefusedCatalogue = { readonly ok: false; readonly problems: readonly Problem[] }

/**
 * Reads a catalogue from YAML (docs/catalogue.md). A refusal contains all problems at once, each with line, column,
 * path and a message with the remedy; a text that is not YAML, too large or nested too deeply is not checked further.
 */
export function parseCatalogue(yamlText: string): ParsedCatalogue | RefusedCatalogue {
  const yaml = openYaml(yamlText)
  if ('problems' in yaml) return refuse(yaml.problems)
  // In this order, because the first removes from the value what it refuses.
  const problems = [...checkForm(yaml), ...checkAcross(yaml)]
  if (problems.length > 0) return refuse(problems)
  const { benefits, offers, insurers = [] } = yaml.value as WrittenCatalogue
  const document = writeDocument({
    benefits: benefits.map(benefit => benefitOf(benefit, insurers)),
    offers: offers.map(offerOf),
    insurers,
  })
  const positions = new Map([
    ...benefits.map(({ name }, index) => [name, yaml.positionOf(`/benefits/${index}`)] as const),
    ...offers.map(({ offer }, index) => [offer, yaml.positionOf(`/offers/${index}`)] as const),
  ])
  const files = benefits.flatMap(({ icon, documents = [] }, index): FileMention[] => [
    { position: yaml.positionOf(`/benefits/${index}/icon`), path: icon, use: 'icon' },
    ...documents.map(({ file }, nth) => ({
      position: yaml.positionOf(`/benefits/${index}/documents/${nth}/file`),
      path: file,
      use: 'document' as const,
    })),
  ])
  return { ok: true, catalogue: readCatalogue(document), document, positions, files }
}

function refuse(problems: readonly Problem[]): RefusedCatalogue {
  return { ok: false, problems: [...problems].sort((a, b) => a.line - b.line || a.column - b.column) }
}
