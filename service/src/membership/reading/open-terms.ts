import { createHash } from 'node:crypto'
import { textIn } from '../../catalogue/model.ts'
import type { Published } from '../../catalogue/published.ts'
import type { Partner } from '../../partners/partner.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { ELECTRONIC_RECORDS } from '../rules/electronic-records.ts'
import { type Person, residenceOf } from '../rules/person.ts'
import type { Consent } from '../rules/state.ts'
import type { Terms } from '../rules/terms.ts'

/** The rules for a partner's users, by the published catalogue. */
export function openTerms(context: { published: Published; real: () => number }) {
  const { published, real } = context
  return {
    prepareTerms: (versions: readonly number[]): Promise<void> | undefined => published.prepare(versions),
    terms: (partner: Partner, person: () => Person | undefined): Terms => ({
      zone: partner.timezone,
      today: published.today(),
      version: version => published.version(version),
      partnerOffers: partner.offers,
      residence: () => residenceOf(person()),
      dependants: () => person()?.dependants ?? [],
      newId: () => uuidv7(real()),
    }),
    /** The hash of the text that the user agreed to. */
    consentHash: (consent: Consent): Buffer | undefined => {
      const wanted =
        consent.name === ELECTRONIC_RECORDS.name
          ? ELECTRONIC_RECORDS
          : published.today().catalogue.benefits.get(consent.name)?.consent
      // The text of an earlier version, which only an import can name, is not known.
      if (wanted?.version !== consent.version) return undefined
      return createHash('sha256').update(textIn(wanted.text, consent.locale)).digest()
    },
  }
}
