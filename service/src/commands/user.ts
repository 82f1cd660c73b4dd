import { dateAt, formatTimestamp } from '../calendar/calendar.ts'
import {
  type Facts,
  judgeBenefit,
  judgeHeldOffer,
  judgeOffer,
  type Verdict,
} from '../catalogue/eligibility.ts'
import { openPublished } from '../catalogue/published.ts'
import { residenceOf } from '../membership/documents.ts'
import { openTerms } from '../membership/open-terms.ts'
import { openReader, type Reading } from '../membership/reader.ts'
import { isHeld } from '../membership/state.ts'
import { factsAt, knownBenefit, offerOf, partnerOffers, type Terms } from '../membership/terms.ts'
import { viewTimeline, viewUser } from '../membership/view.ts'
import { OperatorError } from '../operator-error.ts'
import { partnerOf } from '../partners/keys.ts'
import { requirePartner } from '../partners/manage.ts'
import { clockOn } from '../partners/partner.ts'
import type { Command } from './command.ts'
import { inWorkspace } from './workspace.ts'

type Traced = { readonly name: string; readonly admitted: boolean; readonly rules: Verdict['trace'] }

/**
 * The rules that decide about the user now, for each offer of the partner and each benefit of the user's offer.
 * `undefined` while birth date, state and ZIP code are not all known. Repeats none of the person's data.
 */
const traceOf = (
  { user, now }: Reading,
  terms: Terms,
): { offers: Traced[]; benefits: Traced[] } | undefined => {
  if (!terms.residence()) return undefined
  const own = offerOf(terms, user)
  const facts = (offer: string): Facts => factsAt(terms, now, offer)
  const traced = (name: string, { admitted, trace }: Verdict): Traced => ({ name, admitted, rules: trace })
  const offers = partnerOffers(terms).map(offer =>
    traced(
      offer.offer,
      offer.offer === own?.offer
        ? judgeHeldOffer(offer, facts(offer.offer))
        : judgeOffer(offer, facts(offer.offer), dateAt(now, terms.zone)),
    ),
  )
  const names = new Set([
    ...(own ? [...own.fixed, ...own.selectable] : []),
    ...user.enrolments.filter(isHeld).map(enrolment => enrolment.benefit),
  ])
  const benefits = [...names].flatMap(name => {
    const benefit = knownBenefit(terms, user, name)
    return benefit ? [traced(name, judgeBenefit(benefit, facts(own?.offer ?? '')))] : []
  })
  return { offers, benefits }
}

const linesOfTrace = (title: string, traced: readonly Traced[]): string[] =>
  traced.length === 0
    ? []
    : [
        '',
        title,
        ...traced.flatMap(one => [
          `  ${one.name.padEnd(16)}${one.admitted ? 'admitted' : 'refused'}`,
          ...one.rules.map(rule => `    ${rule.passed ? 'passed' : 'FAILED'}  ${rule.code}: ${rule.why}`),
        ]),
      ]

const show: Command = {
  name: 'user show',
  arguments: ['PARTNER', 'USERID'],
  summary: 'Show a user: the state, the timeline, and the rules that decide. For the operator only.',
  options: {},
  run: input =>
    inWorkspace(input, async ({ database, keyring, installation, real }) => {
      const [partnerId = '', userid = ''] = input.positionals
      const partner = partnerOf(await requirePartner(database, partnerId), keyring)
      const published = openPublished({ database, real })
      const rules = openTerms({ published, real })
      const { sandbox } = installation
      const reader = openReader({ ...rules, database, clock: clockOn(real), sandbox })
      const reading = await reader.read(partner, userid)
      if (!reading || reading.user.status === 'none') {
        throw new OperatorError(
          'This partner has no user of that userid: it is case-sensitive, and a prefill is kept for 90 days.',
        )
      }
      const { user } = reading
      const people = await reader.documents(partner, user)
      const person = people.get('profile') ?? people.get('prefill')
      const terms = rules.terms(partner, () => (residenceOf(person) ? person : undefined))
      const { timeline, ...view } = {
        ...viewUser(user, terms, 'en'),
        timeline: viewTimeline(user, await reader.history(reading)),
      }
      const trace = traceOf(reading, terms)
      const now = formatTimestamp(reading.now)
      input.print({ now, user: view, timeline, trace: trace ?? null }, [
        `user        ${user.userid}`,
        `serviceid   ${user.serviceId}`,
        `status      ${[user.status, ...view.conditions].join(', ')}   (at ${now})`,
        `offer       ${view.currentofferdetails.offer || 'none'} since ${view.currentofferdetails.updatedat}`,
        ...(view.pendingoffer
          ? [`next offer  ${view.pendingoffer.offer} from ${view.pendingoffer.effectiveattimestamp}`]
          : []),
        '',
        'Benefits',
        ...view.benefits.map(one =>
          `  ${one.name.padEnd(16)}${one.state.padEnd(16)}${one.startsattimestamp ?? ''} ${one.endsattimestamp ? `to ${one.endsattimestamp}` : ''}`.trimEnd(),
        ),
        '',
        'Timeline',
        ...timeline.map(
          line =>
            `  ${line.attimestamp}  ${line.attimestamp > now ? '(ahead) ' : ''}${line.what}: ${line.from || '–'} → ${line.to || '–'}   by ${line.who}, ${line.why}`,
        ),
        ...(trace
          ? [
              ...linesOfTrace('Rules of the offers', trace.offers),
              ...linesOfTrace('Rules of the benefits', trace.benefits),
            ]
          : ['', 'No rules were tried: birth date, state and ZIP code are not all known.']),
      ])
    }),
}

/** The commands about users. */
export const userCommands: readonly Command[] = [show]
