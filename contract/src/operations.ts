import * as accounts from './accounts.ts'
import * as beneficiaries from './beneficiaries.ts'
import * as benefits from './benefits.ts'
import * as bulk from './bulk.ts'
import * as dependants from './dependants.ts'
import * as eventLog from './event-log.ts'
import * as linkTokens from './link-tokens.ts'
import * as oauth from './oauth.ts'
import * as offers from './offers.ts'
import type { Caller, Operation } from './operation.ts'
import * as prefill from './prefill.ts'
import * as statements from './statements.ts'
import * as system from './system.ts'
import * as userList from './user-list.ts'
import * as webhooks from './webhooks.ts'

/**
 * Every operation of the interface by its id; the service mounts all of them. If a handler of a partner's operation is
 * missing, the service does not compile.
 */
export const operations = {
  issueToken: oauth.issueToken,
  revokeToken: oauth.revokeToken,
  getMetadata: oauth.getMetadata,
  prefillUser: prefill.prefillUser,
  getBenefits: benefits.getBenefits,
  createUser: accounts.createUser,
  getUser: accounts.getUser,
  listUsers: userList.listUsers,
  updateUser: accounts.updateUser,
  cancelUser: accounts.cancelUser,
  reinstateUser: accounts.reinstateUser,
  eraseUser: accounts.eraseUser,
  bulk: bulk.bulk,
  getBeneficiaries: beneficiaries.getBeneficiaries,
  getDependants: dependants.getDependants,
  setDependants: dependants.setDependants,
  changeOffer: offers.changeOffer,
  undoOfferChange: offers.undoOfferChange,
  listAvailableOffers: offers.listAvailableOffers,
  previewOfferChange: offers.previewOfferChange,
  swapBenefits: benefits.swapBenefits,
  undoSwap: benefits.undoSwap,
  enrolBenefit: benefits.enrolBenefit,
  declineBenefit: benefits.declineBenefit,
  changeCover: benefits.changeCover,
  undoCover: benefits.undoCover,
  listWebhooks: webhooks.listWebhooks,
  createWebhook: webhooks.createWebhook,
  getWebhook: webhooks.getWebhook,
  updateWebhook: webhooks.updateWebhook,
  deleteWebhook: webhooks.deleteWebhook,
  testWebhook: webhooks.testWebhook,
  enableWebhook: webhooks.enableWebhook,
  replayWebhook: webhooks.replayWebhook,
  listEvents: eventLog.listEvents,
  getEvent: eventLog.getEvent,
  listAttempts: eventLog.listAttempts,
  replayEvent: eventLog.replayEvent,
  listStatements: statements.listStatements,
  listStatementLines: statements.listStatementLines,
  createLinkToken: linkTokens.createLinkToken,
  revokeLinkToken: linkTokens.revokeLinkToken,
  exchangeResult: linkTokens.exchangeResult,
  advanceClock: system.advanceClock,
  getHealth: system.getHealth,
  getReadiness: system.getReadiness,
  getOpenapiJson: system.getOpenapiJson,
  getOpenapiYaml: system.getOpenapiYaml,
  getChangelog: system.getChangelog,
} as const satisfies Record<string, Operation>

/** All operations by id. */
export type Operations = typeof operations
/** The id of an operation. */
export type OperationId = keyof Operations
/** The ids of the operations for this kind of caller. */
export type OperationIdOf<Who extends Caller> = {
  [Id in OperationId]: Operations[Id]['caller'] extends Who ? Id : never
}[OperationId]
/** The ids of the operations that only a sandbox has. */
export type SandboxOperationId = {
  [Id in OperationId]: Operations[Id] extends { readonly scope: 'sandbox:control' } ? Id : never
}[OperationId]
