import { html, type Slot } from '../../http/html.ts'
import type { HistoryLine } from '../../membership/rules/history.ts'
import type { User } from '../../membership/rules/state.ts'
import { displayNameOf, type Terms } from '../../membership/rules/terms.ts'
import { when } from './parts.ts'

/** Whose change it is: the source of the names of benefits and offers. */
type Of = { readonly user: User; readonly terms: Terms }

/** The states whose names are not plain words already. */
const STATES: Readonly<Record<string, string>> = {
  enrolled: 'in force',
  endscheduled: 'in force, ends',
  scheduled: 'starts later',
  actionrequired: 'something missing',
  selected: 'picked',
}

const STATUSES: Readonly<Record<string, string>> = {
  none: 'not known',
  registering: 'on the registration page',
}

/** A benefit by the name that the catalogue shows to this user. */
export function benefitName({ terms, user }: Of, name: string): string {
  return displayNameOf(terms, user, name, 'en')
}

/** An offer by the name that the catalogue shows today, or by that of the API where it is no longer there. */
export function offerName(terms: Terms, name: string): string {
  return terms.today.catalogue.offers.get(name)?.displayname.en ?? name
}

/** The reason of a cancel in words; the API writes each as one. */
export function cancelReasonWords(reason: string): string {
  return reason === 'employmentended' ? 'employment ended' : reason
}

/** A state of an enrollment in words. */
export function stateWords(state: string): string {
  return STATES[state] ?? state
}

/** A line of the history in words: what changed, from what to what, with the names that the catalogue shows. */
export function moveWords({ what, from, to }: Pick<HistoryLine, 'what' | 'from' | 'to'>, of: Of): Slot {
  const { subject, value } = readingOf(what, of)
  if (from === '') return html`<strong>${subject}</strong> ${value(to)}`
  if (to === '') return html`<strong>${subject}</strong> ${what !== 'prefill' && value(from)} taken away`
  return html`<strong>${subject}</strong> ${value(from)} → ${value(to)}`
}

type Reading = { readonly subject: string; readonly value: (text: string) => Slot }

function readingOf(what: string, of: Of): Reading {
  const benefit = (name: string) => benefitName(of, name)
  const about = /^(benefit|(?:planned end|start|end) of|consent|beneficiaries) (\S+)(.*)$/.exec(what)
  if (about) {
    const [, kind = '', name = '', rest = ''] = about
    if (kind === 'benefit') return { subject: benefit(name), value: stateWords }
    const joint = kind === 'consent' ? ' to' : kind === 'beneficiaries' ? ' of' : ''
    return { subject: `${capital(kind)}${joint} ${benefit(name)}${rest}`, value: dated(of.terms.zone) }
  }
  const subject = capital(what)
  if (what === 'user') return { subject: 'Status', value: text => STATUSES[text] ?? text }
  if (what === 'swap') return { subject, value: text => swapWords(text, benefit) }
  if (what === 'pending cancel') return { subject, value: dated(of.terms.zone) }
  return what.includes('offer')
    ? { subject, value: text => offerName(of.terms, text) }
    : { subject, value: text => text }
}

/** The history has dates in the form of the API. */
function dated(zone: string): (text: string) => Slot {
  return text => (/^\d{4}-.*Z$/.test(text) ? when(Date.parse(text), zone) : text)
}

/** The pairs of a swap, each as `removed>added`, of which one side may be missing. */
function swapWords(text: string, benefit: (name: string) => string): string {
  const pairs = text.split(' ').map(pair => pair.split('>'))
  return pairs
    .map(([removed = '', added = '']) =>
      removed === ''
        ? `${benefit(added)} for a free place`
        : added === ''
          ? `${benefit(removed)} for nothing`
          : `${benefit(removed)} for ${benefit(added)}`,
    )
    .join(', ')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
