import { type OAuthErrorCode, oauthErrors } from '@benefit-enrolment/contract/names'

/** A refusal of the token endpoint, in the form of RFC 6749 §5.2. */
export class OAuthRefusal extends Error {
  override name = 'OAuthRefusal'
  readonly code: OAuthErrorCode
  readonly status: number

  constructor(code: OAuthErrorCode, description: string) {
    super(description)
    this.code = code
    this.status = oauthErrors[code]
  }
}
