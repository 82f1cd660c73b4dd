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
import { challenge, frame, open } from './start.ts'
import { swap, swapChoose, swapConfirm } from './swap.ts'

/** What each view shows. A view without a line here does not compile. */
const contents: { [Name in View['view']]: (view: Extract<View, { view: Name }>) => Content } = {
  OPEN: open,
  CHALLENGE: challenge,
  DETAILS_REVIEW: detailsReview,
  DETAILS_EDIT: detailsEdit,
  BENEFITS: benefits,
  PLAN: plan,
  SWAP: swap,
  SWAP_CHOOSE: swapChoose,
  SWAP_CONFIRM: swapConfirm,
  OFFER_CHANGE: offerChange,
  OFFER_CONFIRM: offerConfirm,
  CANCEL: cancel,
  CHECK_ANSWERS: checkAnswers,
  BENEFICIARIES: beneficiaries,
  BENEFICIARIES_EDIT: beneficiariesEdit,
  DONE: done,
  ALREADY_ENROLLED: alreadyEnrolled,
  NO_BENEFITS: noBenefits,
  LINK_ENDED: linkEnded,
  PROBLEM: problem,
  FRAME: frame,
}

/** The whole HTML document of a view, in the view's language. Never refuses: every text of the view is escaped. */
export function renderPage(view: View): string {
  // TypeScript cannot see that the function found under a view's name takes that view.
  const contentOf = contents[view.view] as (view: View) => Content
  return document(view.view, view.page, contentOf(view))
}
