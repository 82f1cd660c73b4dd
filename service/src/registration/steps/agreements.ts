import { type Benefit, languageOfText, textIn } from '../../catalogue/model.ts'
import { ELECTRONIC_RECORDS } from '../../membership/rules/electronic-records.ts'
import { mergeConsents } from '../../membership/rules/enrolments.ts'
import type { Consent, User } from '../../membership/rules/state.ts'
import { hasConsent } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { ConsentText } from '../views/parts.ts'
import { inLanguageOf, sayIn } from '../views/say.ts'

/**
 * The consents that these benefits ask for and that the person has not given in this version. A consent is shown ticked
 * only if the posted form had it so. The consent to electronic records comes before the first of them.
 */
export function consentsFor(
  visit: Visit,
  benefits: readonly Benefit[],
  posted?: URLSearchParams,
): readonly ConsentText[] {
  const wanted = benefits.flatMap(benefit => {
    const { consent, name, displayname } = benefit
    if (!consent || hasConsent(visit.user, benefit)) return []
    return [textOf(visit, { ...consent, name, title: displayname }, posted)]
  })
  return wanted.length > 0 ? [...recordsFor(visit, posted), ...wanted] : wanted
}

/** The consents before a newcomer's enrolment, which is an agreement even when the benefits ask for none. */
export function consentsToEnrol(
  visit: Visit,
  benefits: readonly Benefit[],
  posted?: URLSearchParams,
): readonly ConsentText[] {
  const wanted = consentsFor(visit, benefits, posted)
  return wanted.length > 0 ? wanted : recordsFor(visit, posted)
}

/** The consents that a person has just given, in the language of the text that was shown. */
export function agreedNow({ now }: Visit, agreed: readonly ConsentText[]): readonly Consent[] {
  return agreed.map(({ name, version, language }) => ({ name, version, agreedAt: now, locale: language }))
}

/** The user with the consents that a person has just given. */
export function withAgreed(user: User, visit: Visit, agreed: readonly ConsentText[]): User {
  return { ...user, consents: mergeConsents(user.consents, agreedNow(visit, agreed)) }
}

/** Whether a consent is the one to electronic records, without which nobody can agree to anything here. */
export function isOfRecords(consent: string): boolean {
  return consent === ELECTRONIC_RECORDS.name
}

/** The consent to electronic records, unless it was given in this version. */
function recordsFor(visit: Visit, posted: URLSearchParams | undefined): readonly ConsentText[] {
  const { name, version } = ELECTRONIC_RECORDS
  const say = sayIn(visit)
  if (visit.user.consents.some(given => given.name === name && given.version === version)) return []
  return [
    {
      ...textOf(visit, ELECTRONIC_RECORDS, posted),
      title: say`Electronic documents`,
      agree: say`I agree to receive documents electronically`,
    },
  ]
}

function textOf(
  { locale }: Visit,
  consent: Pick<typeof ELECTRONIC_RECORDS, 'name' | 'version' | 'title' | 'text'>,
  posted: URLSearchParams | undefined,
): ConsentText {
  const { name, version, title, text } = consent
  return {
    name,
    version,
    title: textIn(title, locale),
    paragraphs: textIn(text, locale)
      .split(/\n\s*\n/)
      .map(paragraph => inLanguageOf(text, locale, paragraph)),
    language: languageOfText(text, locale),
    checked: posted?.get(`consent.${name}`) === version,
  }
}
