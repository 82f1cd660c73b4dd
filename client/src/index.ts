export * from './benefits.ts'
export type { ResponseInfo } from './call.ts'
export type { CallOptions, Client, NoFields, PrefillOptions } from './client.ts'
export { type ClientOptions, createClient } from './create-client.ts'
export * from './endpoints.ts'
export { BenefitEnrolmentError, type FieldProblem, isBenefitEnrolmentError } from './error.ts'
export type { ClientErrorCode, ErrorCode, OAuthErrorCode } from './error-codes.ts'
export type { EventName, WebhookEvent } from './events.ts'
export * from './link-tokens.ts'
export * from './offers.ts'
export * from './person.ts'
export type { OperationName, Scope } from './routes.ts'
export * from './user.ts'
export {
  type VerifiedDelivery,
  type WebhookCredentials,
  type WebhookRequest,
  webhooks,
} from './webhooks.ts'
