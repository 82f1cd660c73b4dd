import {
  type changeOffer,
  errors,
  type listAvailableOffers,
  type OfferChanged,
  type previewOfferChange,
  type undoOfferChange,
  userMessage,
} from '@benefit-enrolment/contract'
import { formatTimestamp } from '../calendar/calendar.ts'
import type { Handler } from '../http/mount.ts'
import { type AccountCommands, decisionOf, reasonsIn } from '../membership/requests/account-command.ts'
import { nextBoundary } from '../membership/rules/boundary.ts'
import {
  isRefusal,
  type Refusal,
  type RefusalReason,
  refuse,
  refuseField,
  unknownOffer,
} from '../membership/rules/refusal.ts'
import type { User } from '../membership/rules/state.ts'
import { offerOf, partnerOffer, partnerOffers, type Terms } from '../membership/rules/terms.ts'
import { offerDetailsOf, pendingOfferOf } from '../membership/rules/view.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Clock } from '../partners/partner.ts'
import { changeOfferOf, type OfferChange, type OfferChangeInput, undoOfferChangeOf } from './change.ts'
import { checkPreview, makePreview } from './preview.ts'

/** Moves users between offers, and lists and previews such moves (contract §8). */
export function offerHandlers(context: { commands: AccountCommands; clock: Clock }) {
  const { commands, clock } = context

  const change: Handler<typeof changeOffer, Caller> = request => {
    const { body } = request
    const { partner } = request.caller
    const input = inputOf(body)
    return commands.change(request, { userid: body.userid, why: 'offer change' }, (user, now, terms) => {
      if (!mayName(user, input, terms)) return unknownOffer
      const changed = changeOfferOf(user, input, now, terms)
      if (isRefusal(changed)) return changed
      const takesCoverAtOnce = changed.isImmediate && changed.direction === 'downgrade'
      if (takesCoverAtOnce && !body.previewid)
        return refuseField(
          'previewid',
          'required',
          'is required: an immediate downgrade takes cover away at once, see POST /user/offers/preview',
        )
      if (
        body.previewid &&
        !checkPreview(body.previewid, { partner, user, input, changed, now: clock.real() })
      )
        return refuse('preview_stale')
      return decisionOf(changed, user, viewChange)
    })
  }

  const undo: Handler<typeof undoOfferChange, Caller> = request =>
    commands.change(
      request,
      { userid: request.params.userid, why: 'offer change undone' },
      (user, now, terms) => decisionOf(undoOfferChangeOf(user, now, terms), user, viewChange),
    )

  const available: Handler<typeof listAvailableOffers, Caller> = async request => {
    const { user, terms, now } = await commands.read(request, request.body.userid)
    const current = offerOf(terms, user)
    return partnerOffers(terms)
      .filter(offer => offer.offer !== current?.offer)
      .map(offer => {
        const isUpgrade = offer.rank > (current?.rank ?? 0)
        const effectiveAt = isUpgrade
          ? Math.max(now, user.offer?.since ?? now)
          : nextBoundary(user, now, terms)
        const input = { offername: offer.offer, action: 'auto', effective: 'auto' } as const
        return {
          offer: offer.offer,
          displayname: offer.displayname[request.locale],
          direction: isUpgrade ? ('upgrade' as const) : ('downgrade' as const),
          effectiveattimestamp: formatTimestamp(effectiveAt),
          reasons: reasonsIn(reasonsOf(changeOfferOf(user, input, now, terms)), request.locale),
        }
      })
  }

  const preview: Handler<typeof previewOfferChange, Caller> = request => {
    const input = inputOf(request.body)
    const { partner } = request.caller
    const command = { userid: request.body.userid, why: 'offer change', isPreview: true } as const
    return commands.change(request, command, (user, now, terms) => {
      const changed = mayName(user, input, terms) ? changeOfferOf(user, input, now, terms) : unknownOffer
      return decisionOf(changed, user, (after, made) => {
        const shown = makePreview({ partner, user, input, changed: made, now: clock.real() })
        return {
          ...viewChange(after, made),
          previewid: shown.previewid,
          expiresat: formatTimestamp(shown.expiresAt),
        }
      })
    })
  }

  return {
    changeOffer: change,
    undoOfferChange: undo,
    listAvailableOffers: available,
    previewOfferChange: preview,
  }
}

function inputOf(body: {
  offername: string
  action?: OfferChangeInput['action'] | ''
  effective?: OfferChangeInput['effective'] | ''
}): OfferChangeInput {
  return {
    offername: body.offername,
    action: body.action || 'auto',
    effective: body.effective || 'auto',
  }
}

/** Whether an offer is the partner's or the user's own; any other is an error in the request. */
function mayName(user: User, { offername }: OfferChangeInput, terms: Terms): boolean {
  return offername === user.offer?.name || partnerOffer(terms, offername) !== undefined
}

function viewChange(after: User, changed: OfferChange): OfferChanged {
  return {
    userid: after.userid,
    serviceid: after.serviceId,
    direction: changed.direction,
    currentofferdetails: offerDetailsOf(after),
    pendingoffer: pendingOfferOf(after),
    gained: [...changed.gained],
    lost: [...changed.lost],
    kept: [...changed.kept],
  }
}

/** Why a change would be refused; if the refusal has no reasons, its code is the reason. */
function reasonsOf(changed: OfferChange | Refusal): readonly RefusalReason[] {
  if (!isRefusal(changed)) return []
  if (changed.reasons.length > 0) return changed.reasons
  const text = { en: errors[changed.refused].title, es: userMessage(changed.refused, 'es') }
  return [{ field: 'offername', code: changed.refused, text }]
}
