import { beneficiaries, beneficiariesEdit } from './beneficiaries.ts'
import { benefits } from './benefits.ts'
import { cancel } from './cancel.ts'
import { checkAnswers } from './check.ts'
import { detailsEdit, detailsReview } from './details.ts'
import { type Content, document } from './layout.ts'
import type { View } from './model.ts'
import { offerChange, offerConfirm } from './offer.ts'
import { alreadyEnrolled, done, linkEnded, noBenefits, problem } from './outcome.ts'
import { plan } from './plan.ts'
import { challenge, frame, open, start } from './start.ts'
import { swap, swapChoose, swapConfirm } from './swap.ts'
import { type Texts, textsOf } from './texts.ts'

/** The whole HTML document of a view, in the view's language. Never refuses: every text of the view is escaped. */
export function renderPage(view: View): string {
  const texts = textsOf(view.page.locale)
  return document(view.view, view.page, texts, contentOf(view, texts))
}

function contentOf(view: View, texts: Texts): Content {
  switch (view.view) {
    case 'OPEN':
      return open(view, texts)
    case 'CHALLENGE':
      return challenge(view, texts)
    case 'START':
      return start(view, texts)
    case 'DETAILS_REVIEW':
      return detailsReview(view, texts)
    case 'DETAILS_EDIT':
      return detailsEdit(view, texts)
    case 'BENEFITS':
      return benefits(view, texts)
    case 'PLAN':
      return plan(view, texts)
    case 'SWAP':
      return swap(view, texts)
    case 'SWAP_CHOOSE':
      return swapChoose(view, texts)
    case 'SWAP_CONFIRM':
      return swapConfirm(view, texts)
    case 'OFFER_CHANGE':
      return offerChange(view, texts)
    case 'OFFER_CONFIRM':
      return offerConfirm(view, texts)
    case 'CANCEL':
      return cancel(view, texts)
    case 'CHECK_ANSWERS':
      return checkAnswers(view, texts)
    case 'BENEFICIARIES':
      return beneficiaries(view)
    case 'BENEFICIARIES_EDIT':
      return beneficiariesEdit(view, texts)
    case 'DONE':
      return done(view, texts)
    case 'ALREADY_ENROLLED':
      return alreadyEnrolled(view, texts)
    case 'NO_BENEFITS':
      return noBenefits(view, texts)
    case 'LINK_ENDED':
      return linkEnded(view, texts)
    case 'PROBLEM':
      return problem(view, texts)
    case 'FRAME':
      return frame(view, texts)
  }
}
