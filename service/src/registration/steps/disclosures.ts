import type { Benefit, BenefitDocument, Relationship } from '../../catalogue/model.ts'
import { worthOf } from '../../catalogue/tiers.ts'
import type { Visit } from '../session/visit.ts'
import type { Cost, Coverage } from '../views/parts.ts'

/** What the page must show about a benefit on this visit; `undefined` when there is nothing. */
export function coverageOf(visit: Visit, benefit: Benefit): Coverage | undefined {
  const { locale } = visit
  const { insurer, waitingperiod } = benefit
  const documents = documentsFor(visit, benefit.documents ?? [])
  if (!insurer && !waitingperiod && documents.length === 0) return undefined
  return {
    insurer: insurer && { name: insurer.name, licence: insurer.licence[locale] },
    waiting: waitingperiod && { days: waitingperiod.days, text: waitingperiod.text?.[locale] },
    documents: documents.map(({ title, language, file }) => ({
      title: title[locale],
      language,
      address: `${visit.context.basePath}/files/${file}`,
    })),
  }
}

/** What a benefit costs while these are covered beside the person, who collects it and how. */
export function costOf(visit: Visit, benefit: Benefit, who?: Iterable<Relationship>): Cost {
  const { insurer } = benefit
  const { cents, per, taken } = worthOf(benefit, who).cost
  if (cents === 0) return { kind: 'nothing' }
  const by = taken?.by === 'insurer' ? (insurer?.name ?? '') : visit.partner.name
  return {
    kind: 'amount',
    amount: cents / 100,
    currency: 'USD',
    per,
    taken: taken && { by, how: taken.how[visit.locale] },
  }
}

/** The documents for this person's state, one of each title: in the page's language if it exists, else in the other. */
function documentsFor(
  { person, locale }: Visit,
  documents: readonly BenefitDocument[],
): readonly BenefitDocument[] {
  const state = person.state ?? person.address?.state
  const byTitle = new Map<string, BenefitDocument>()
  for (const document of documents) {
    if (!isFor(document.states, state)) continue
    const known = byTitle.get(document.title.en)
    if (known === undefined || (known.language !== locale && document.language === locale))
      byTitle.set(document.title.en, document)
  }
  return [...byTitle.values()]
}

/**
 * If the person's state is unknown, documents for certain states are shown too: a document too many harms less than one too
 * few.
 */
function isFor(states: BenefitDocument['states'], state: string | undefined): boolean {
  if (states === undefined || state === undefined) return true
  return states.in ? states.in.includes(state) : !(states.notin ?? []).includes(state)
}
