import type { GivenConsents, Locale, Static } from '@benefit-enrolment/contract'
import { dateAt, type Instant, parseTimestamp, type Zone } from '../../calendar/calendar.ts'
import type { Partner } from '../../partners/partner.ts'
import { enrolmentOf } from '../rules/enrolments.ts'
import { because, type Refusal, refuse, refuseField } from '../rules/refusal.ts'
import { type Consent, isLive, type User } from '../rules/state.ts'
import { openBenefit, type Terms } from '../rules/terms.ts'

/** A benefit that a request names, and where. */
export type NamedBenefit = { readonly field: string; readonly name: string }

/**
 * Refuses names of benefits that are neither in the newest catalogue nor among those that the user has, with each of
 * their fields; `undefined`: all are known.
 */
export function refuseUnknown(
  named: readonly NamedBenefit[],
  context: { user: User | undefined; terms: Terms },
): Refusal | undefined {
  const { user, terms } = context
  const known = (name: string) => openBenefit(terms, name) ?? (user && enrolmentOf(user, name, isLive))
  const unknown = named
    .filter(({ name }) => known(name) === undefined)
    .map(({ field }) => because(field, 'unknown', `${field} must be the name of a benefit of the catalogue`))
  return unknown.length > 0 ? refuse('benefit_unknown', unknown) : undefined
}

/** The benefits that the consents of a request name. */
export function consentNames(consents: readonly { readonly name: string }[] = []): NamedBenefit[] {
  return consents.map(({ name }, index) => ({ field: `consents[${index}].name`, name }))
}

/** Refuses a birth date after today in the partner's zone; `undefined`: it is accepted. */
export function refuseBirthDate(
  dob: string | null | undefined,
  context: { now: Instant; zone: Zone; field?: string },
): Refusal | undefined {
  if (!dob || dob <= dateAt(context.now, context.zone)) return undefined
  return refuseField(
    context.field ?? 'dob',
    'future',
    'must not be after today: it is a date of birth, YYYY-MM-DD',
  )
}

/** The same of the dependants of a request. */
export function refuseBirthDates(
  dependants: readonly { readonly dob: string }[],
  context: { now: Instant; zone: Zone },
): Refusal | undefined {
  return dependants
    .map(({ dob }, index) => refuseBirthDate(dob, { ...context, field: `dependants[${index}].dob` }))
    .find(refusal => refusal !== undefined)
}

/** Refuses a `partnername` that is none of the partner's own names, whatever its case; empty means any (contract §6). */
export function refusePartnerName(partner: Partner, name: string | undefined): Refusal | undefined {
  const isOwn = [partner.name, ...partner.aliases].some(own => own.toLowerCase() === name?.toLowerCase())
  if (!name || isOwn) return undefined
  const rule = 'must be empty or one of your own names'
  return refuseField('partnername', 'partnername_not_allowed', rule, 'partnername_not_allowed')
}

/**
 * The consents of a request in the form in which they are kept. Refuses a consent that no benefit asks for in this
 * version, and one of the future.
 */
export function consentsOf(
  given: Static<typeof GivenConsents> = [],
  context: { terms: Terms; now: Instant; locale: Locale },
): Consent[] | Refusal {
  const consents: Consent[] = []
  for (const [index, { name, version, locale, agreedattimestamp }] of given.entries()) {
    const at = `consents[${index}]`
    const wanted = openBenefit(context.terms, name)?.consent
    if (!wanted) return refuseField(`${at}.name`, 'unknown', 'must be a benefit that asks for a consent')
    if (wanted.version !== version)
      return refuseField(`${at}.version`, 'unknown', 'must be the version of the consent text in force')
    const sentAt = agreedattimestamp ? parseTimestamp(agreedattimestamp) : undefined
    const agreedAt = sentAt ?? context.now
    if (agreedAt > context.now)
      return refuseField(`${at}.agreedattimestamp`, 'future', 'must not lie in the future')
    consents.push({ name, version, agreedAt, locale: locale || context.locale })
  }
  return consents
}
