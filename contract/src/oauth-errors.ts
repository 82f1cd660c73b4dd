/** Error codes of the token endpoint (RFC 6749 §5.2); they have their own form. */
export const oauthErrors = {
  invalid_request: 400,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  unsupported_token_type: 400,
  invalid_client: 401,
} as const
/** One error code of the token endpoint. */
export type OAuthErrorCode = keyof typeof oauthErrors
/** All error codes of the token endpoint. */
export const oauthErrorCodes = Object.keys(oauthErrors) as OAuthErrorCode[]
