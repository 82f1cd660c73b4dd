import { OperatorError } from '../operator-error.ts'
import type { Benefit, Catalogue, Insurer, Offer } from './model.ts'

const SCHEMA = 1

/** A catalogue as a JSON value, as it is stored forever. The same content always gives the same value. */
export type CatalogueDocument = {
  readonly schema: typeof SCHEMA
  readonly benefits: readonly Benefit[]
  readonly offers: readonly Offer[]
  readonly insurers: readonly Insurer[]
}

/** The catalogue as a JSON value, benefits by name, offers by rank and insurers by code. */
export function writeDocument({
  benefits,
  offers,
  insurers,
}: Omit<CatalogueDocument, 'schema'>): CatalogueDocument {
  return {
    schema: SCHEMA,
    benefits: [...benefits].sort((a, b) => (a.name < b.name ? -1 : 1)),
    offers: [...offers].sort((a, b) => a.rank - b.rank),
    insurers: [...insurers].sort((a, b) => (codeOf(a) < codeOf(b) ? -1 : 1)),
  }
}

function codeOf({ insurer = '' }: Insurer): string {
  return insurer
}

/**
 * The catalogue that `writeDocument` wrote. The value comes from our own database, so only its schema version is
 * checked: throws OperatorError when a newer release wrote it.
 */
export function readCatalogue(document: unknown): Catalogue {
  if (!isDocument(document))
    throw new OperatorError(
      'The stored catalogue was written by a newer release; start that release instead.',
    )
  return {
    benefits: new Map(document.benefits.map(benefit => [benefit.name, benefit])),
    offers: new Map(document.offers.map(offer => [offer.offer, offer])),
    insurers: new Map(document.insurers.map(insurer => [codeOf(insurer), insurer])),
  }
}

function isDocument(value: unknown): value is CatalogueDocument {
  return typeof value === 'object' && value !== null && 'schema' in value && value.schema === SCHEMA
}
