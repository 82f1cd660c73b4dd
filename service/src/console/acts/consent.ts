import { enrolBenefitOf } from '../../benefits/single.ts'
import { dateAt, type Instant, startOfDate, type Zone } from '../../calendar/calendar.ts'
import type { Benefit } from '../../catalogue/model.ts'
import { html, type Slot } from '../../http/html.ts'
import { localeNamed } from '../../http/locale.ts'
import { because, isRefusal, type Refusal, refuse } from '../../membership/rules/refusal.ts'
import { type Consent, isLive, type User } from '../../membership/rules/state.ts'
import { hasConsent, openBenefit, type Terms } from '../../membership/rules/terms.ts'
import { isAskedDay } from '../screen/screen.ts'
import { selectField, writeDay } from '../views/parts.ts'
import type { Act, UserState } from './act.ts'

const LANGUAGES = { en: 'English', es: 'Spanish' } as const
/** How a consent is given outside the page. */
const CONSENT_CHANNELS = ['phone', 'paper', 'email'] as const
const channelWords = { phone: 'By phone', paper: 'On paper', email: 'By email' } as const

/** Puts on record that the person agreed, outside the page, to the terms of a present or coming benefit. */
export const recordConsent: Act = {
  name: 'consent',
  title: 'Put a consent on record',
  button: 'Put it on record',
  fits: ({ user, terms }) => user.status === 'active' && wantedConsents({ user, terms }).length > 0,
  fields,
  kept: (form, { terms: { zone } }) => {
    const day = form.get('agreedon') ?? ''
    const language = LANGUAGES[localeNamed(form.get('language')) ?? 'en']
    return (
      isAskedDay(day) &&
      html`<p>On record: agreed on ${writeDay(
        startOfDate(day, zone),
        zone,
      )}, in ${language}. Evidence: ${form.get('evidence')?.trim()}</p>`
    )
  },
  why: form => `consent by ${channelOf(form) ?? 'paper'}`,
  decide: (form, { user, now, terms }) => {
    if (user.status !== 'active') return refuse('user_cancelled')
    const consent = consentOf(form, { user, now, terms })
    if (isRefusal(consent)) return consent
    const evidence = (form.get('evidence') ?? '').trim()
    if (evidence.length < 3 || evidence.length > 500)
      return refuse('bad_request', [
        because('evidence', 'missing', 'Say in 3 to 500 characters where the evidence is kept.'),
      ])
    const changed = enrolBenefitOf(user, { name: consent.name, consents: [consent] }, now, terms)
    return isRefusal(changed) ? changed : { user: changed.user, events: changed.events, evidence }
  },
}

function fields(moment: UserState): Slot {
  const { now, terms } = moment
  const wanted = wantedConsents(moment)
  if (wanted.length === 0)
    return html`<p class="notice" role="status">
No benefit that this person holds or is to get asks for a consent that is not there yet.</p>`
  const texts = wanted.map(
    ({ name, displayname, consent }) =>
      [`${name} ${consent?.version}`, `${displayname.en}, version ${consent?.version}`] as const,
  )
  return html`${selectField('consent', 'To the terms of', texts)}
${wanted.map(
  ({ displayname, consent }) =>
    html`<details><summary>The text of ${displayname.en}, to read out</summary>${(['en', 'es'] as const).map(
      language =>
        html`<blockquote lang="${language}">${(consent?.text[language] ?? '')
          .split('\n\n')
          .map(paragraph => html`<p>${paragraph}</p>`)}</blockquote>`,
    )}</details>`,
)}
${selectField('channel', 'How it was given', Object.entries(channelWords))}
${selectField('language', 'In which language', Object.entries(LANGUAGES))}
<p class="field"><label for="agreedon">On which day</label><input id="agreedon" name="agreedon" type="date" required
value="${dateAt(now, terms.zone)}" max="${dateAt(now, terms.zone)}"></p>
<p class="field"><label for="evidence">Evidence</label><textarea id="evidence" name="evidence" required minlength="3"
maxlength="500" rows="2" aria-describedby="evidence-hint"></textarea>
<span class="hint" id="evidence-hint">Where the recording, the signed paper or the message is kept.
It is sealed with the person's data and goes with it.</span></p>`
}

/** The missing consents of the benefits that the user holds or will get. */
function wantedConsents({ user, terms }: Pick<UserState, 'user' | 'terms'>): readonly Benefit[] {
  const names = new Set(user.enrolments.filter(isLive).map(one => one.benefit))
  return [...names].flatMap(name => {
    const benefit = openBenefit(terms, name)
    return benefit?.consent && !hasConsent(user, benefit) ? [benefit] : []
  })
}

type ConsentCase = { readonly user: User; readonly now: Instant; readonly terms: Terms }

/** The consent in the form; refused when it is not to the present text, or not needed. */
function consentOf(form: URLSearchParams, { user, now, terms }: ConsentCase): Consent | Refusal {
  const [name = '', version = ''] = (form.get('consent') ?? '').split(' ')
  const benefit = wantedConsents({ user, terms }).find(one => one.name === name)
  if (benefit?.consent?.version !== version)
    return refuse('bad_request', [
      because('consent', 'unknown', 'The consent is there already, or its text is not the one in force.'),
    ])
  const channel = channelOf(form)
  const agreedAt = agreedOn(form.get('agreedon') ?? '', { now, zone: terms.zone })
  if (channel === undefined || agreedAt === undefined)
    return refuse('bad_request', [
      because('agreedon', 'invalid', 'Say how it was given, and on which day, today at the latest.'),
    ])
  return { name, version, agreedAt, locale: localeNamed(form.get('language')) ?? 'en', channel }
}

/** The instant for a day: now if the day is today; `undefined` for an invalid or future day. */
function agreedOn(day: string, { now, zone }: { now: Instant; zone: Zone }): Instant | undefined {
  const today = dateAt(now, zone)
  if (!isAskedDay(day) || day > today) return undefined
  return day === today ? now : startOfDate(day, zone)
}

function channelOf(form: URLSearchParams): (typeof CONSENT_CHANNELS)[number] | undefined {
  return CONSENT_CHANNELS.find(one => one === form.get('channel'))
}
