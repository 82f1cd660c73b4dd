export type { Bulk } from './bulk.ts'
export type { BulkLine } from './bulk-lines.ts'
export type { LogEntry, ResponseInfo } from './call.ts'
export {
  type ClientOptions,
  type ClientWithResponse,
  createClient,
  type OperationName,
  type PartnerClient,
} from './create-client.ts'
export type { EachEvent, EventWalk } from './each-event.ts'
export type { EachStatementLine } from './each-statement-line.ts'
export type { EachUser } from './each-user.ts'
export { BenefitEnrolmentError, isBenefitEnrolmentError } from './error.ts'
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  RuleError,
  UnavailableError,
} from './error-classes.ts'
export type { ClientErrorCode } from './error-codes.ts'
export type * from './generated.ts'
export type * from './named-parts.ts'
export type { CallOptions, NoFields, PrefillOptions } from './options.ts'
export {
  type DeliveryToSign,
  type VerifiedDelivery,
  type WebhookCredentials,
  type WebhookRequest,
  webhooks,
} from './webhooks.ts'
