import { certificateOf, eraseForOperator, wordsOfCertificate } from '../../accounts/erase-for-operator.ts'
import { sealReason } from '../../audit/reason.ts'
import { dateAt, formatTimestamp, isZone, localTimestamp } from '../../calendar/calendar.ts'
import {
  type Facts,
  judgeBenefit,
  judgeHeldOffer,
  judgeOffer,
  type Verdict,
} from '../../catalogue/eligibility.ts'
import { openCommandExecutor } from '../../membership/commands/executor.ts'
import { findRefusedCreates } from '../../membership/commands/find-refused-creates.ts'
import type { Reading } from '../../membership/reading/reader.ts'
import { residenceOf } from '../../membership/rules/person.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { isHeld } from '../../membership/rules/state.ts'
import { factsAt, knownBenefit, offerOf, partnerOffers, type Terms } from '../../membership/rules/terms.ts'
import { viewTimeline, viewUser } from '../../membership/rules/view.ts'
import { OperatorError } from '../../operator-error.ts'
import { type Command, neededText, UsageError, valued } from '../command.ts'
import { inWorkspace, partnerIn, systemUser } from '../workspace.ts'
import { erasureListOf } from './erasures.ts'
import { lineOfRefused, memberContext, openMemberReader, viewRefused } from './members.ts'
import { correctUser } from './user-correct.ts'
import { findUser } from './user-find.ts'
import { reasonOption, userRecordCommands } from './user-records.ts'

type Traced = { readonly name: string; readonly admitted: boolean; readonly rules: Verdict['trace'] }

/**
 * The rules that decide about the user now, for each offer of the partner and each benefit of the user's offer;
 * `undefined` unless birth date, state and ZIP code are all known. It repeats no personal data.
 */
function traceOf({ user, now }: Reading, terms: Terms): { offers: Traced[]; benefits: Traced[] } | undefined {
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

function linesOfTrace(title: string, traced: readonly Traced[]): string[] {
  return traced.length === 0
    ? []
    : [
        '',
        title,
        ...traced.flatMap(one => [
          `  ${one.name.padEnd(16)}${one.admitted ? 'admitted' : 'refused'}`,
          ...one.rules.map(rule => `    ${rule.passed ? 'passed' : 'FAILED'}  ${rule.code}: ${rule.why}`),
        ]),
      ]
}

const show: Command = {
  name: 'user show',
  arguments: ['PARTNER', 'USERID'],
  summary: 'Show a user: the state, the timeline, and the rules that decide. For the operator only.',
  options: {
    timezone: valued(
      'ZONE',
      'show times in this zone, like America/Chicago, or partner for the partner’s (default UTC)',
    ),
  },
  run: input => {
    const named = input.text('timezone')
    if (named !== undefined && named !== 'partner' && !isZone(named))
      throw new UsageError('--timezone must be a zone like America/Chicago, or partner; see --help.')
    return inWorkspace(input, async workspace => {
      const { database, record } = workspace
      const [partnerId = '', userid = ''] = input.positionals
      const partner = await partnerIn(workspace, partnerId)
      const zone = named === 'partner' ? partner.timezone : named
      const shown = (at: string | null) => (at && zone ? localTimestamp(Date.parse(at), zone) : (at ?? ''))
      const refused = (await findRefusedCreates(database, partner, userid)).map(viewRefused)
      const linesOfRefused =
        refused.length === 0
          ? []
          : ['', 'Refused creates', ...refused.map(one => lineOfRefused({ ...one, at: shown(one.at) }))]
      const context = memberContext(workspace)
      const reader = openMemberReader(workspace, context)
      const reading = await reader.read(partner, userid)
      if (refused.length > 0 && (!reading || reading.user.status === 'none')) {
        input.print({ user: null, refusedcreates: refused }, [
          'This partner has no user of that userid; creates of it were refused.',
          ...linesOfRefused,
        ])
        return
      }
      if (!reading || reading.user.status === 'none') {
        throw new OperatorError(
          'This partner has no user of that userid: check the letter case, too; a prefill is kept for 90 days.',
        )
      }
      const { user } = reading
      record({ serviceId: user.serviceId })
      const people = await reader.documents(partner, user)
      const person = people.get('profile') ?? people.get('prefill')
      const terms = context.terms(partner, () => (residenceOf(person) ? person : undefined))
      const { timeline, ...view } = {
        ...viewUser(user, terms, 'en'),
        timeline: viewTimeline(user, await reader.history(reading, 'all')),
      }
      const trace = traceOf(reading, terms)
      const now = formatTimestamp(reading.now)
      await workspace.database.query(workspace.alongside())
      input.print({ now, user: view, timeline, trace: trace ?? null, refusedcreates: refused }, [
        `user        ${user.userid}`,
        `serviceid   ${user.serviceId}`,
        `status      ${[user.status, ...view.conditions].join(', ')}   (at ${shown(now)})`,
        `offer       ${view.currentofferdetails.offer || 'none'} since ${shown(view.currentofferdetails.updatedat)}`,
        ...(view.pendingoffer
          ? [`next offer  ${view.pendingoffer.offer} from ${shown(view.pendingoffer.effectiveattimestamp)}`]
          : []),
        '',
        'Benefits',
        ...view.benefits.map(one =>
          `  ${one.name.padEnd(16)}${one.state.padEnd(16)}${shown(one.startsattimestamp)} ${one.endsattimestamp ? `to ${shown(one.endsattimestamp)}` : ''}`.trimEnd(),
        ),
        '',
        'Timeline',
        ...timeline.map(
          line =>
            `  ${shown(line.attimestamp)}  ${line.attimestamp > now ? '(ahead) ' : ''}${line.what}: ${line.from || '–'} → ${line.to || '–'}   by ${line.who}, ${line.why}`,
        ),
        ...(trace
          ? [
              ...linesOfTrace('Rules of the offers', trace.offers),
              ...linesOfTrace('Rules of the benefits', trace.benefits),
            ]
          : ['', 'No rules were tried: birth date, state and ZIP code are not all known.']),
        ...linesOfRefused,
      ])
    })
  },
}

const erase: Command = {
  name: 'user erase',
  arguments: ['PARTNER', 'USERID'],
  summary: 'Erase a user for good, as the partner could by the API; prints a certificate of the erasure.',
  options: reasonOption,
  run: input =>
    inWorkspace(input, async workspace => {
      const { config, dataDir, database, real, record, alongside } = workspace
      const [partnerId = '', userid = ''] = input.positionals
      const reason = neededText(input, 'reason')
      const partner = await partnerIn(workspace, partnerId)
      // Opened first: an erasure that could not be listed must not begin.
      const list = await erasureListOf(config, dataDir)
      const context = memberContext(workspace)
      const known = (await openMemberReader(workspace, context).read(partner, userid))?.user.serviceId
      const concerning = (serviceId: string) =>
        record({ serviceId, sealedReason: sealReason(partner, serviceId, reason) })
      if (known !== undefined) concerning(known)
      const erased = await eraseForOperator(openCommandExecutor(context), {
        partner,
        userid,
        actor: systemUser(),
        isRefused: ({ serviceId }) => serviceId !== known,
        alongside: [alongside()],
      })
      if (isRefusal(erased))
        throw new OperatorError('This partner has no user of that userid: check the letter case, too.')
      const { serviceId } = erased
      concerning(serviceId)
      const certificate = await certificateOf(database, { ...erased, partnerId })
      await list?.note({ partnerId, serviceId, erasedAt: certificate.erasedat })
      input.print(certificate, [...wordsOfCertificate(certificate, real())])
    }),
}

/** The commands about users. */
export const userCommands: readonly Command[] = [findUser, show, erase, correctUser, ...userRecordCommands]
