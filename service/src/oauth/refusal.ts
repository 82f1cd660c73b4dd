import { type OAuthErrorCode, oauthErrors } from '@benefit-enrolment/contract/names'
import type { WhyNot } from '../partners/directory.ts'

/** A refusal of the token endpoint, in the form of RFC 6749 §5.2. */
export class OAuthRefusal extends Error {
  override name = 'OAuthRefusal'
  readonly code: OAuthErrorCode
  readonly status: number
  /** What is wrong with the credentials that were sent. */
  readonly why: WhyNot

  constructor(code: OAuthErrorCode, description: string, why: WhyNot = { is: 'unknown' }) {
    super(description)
    this.code = code
    this.why = why
    this.status = oauthErrors[code]
  }
}
