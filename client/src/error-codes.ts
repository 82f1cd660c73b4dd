/**
 * Codes of the client itself.
 * `network`: no answer, or it broke off. `timeout`: no answer in time. `protocol`: an answer that is not the
 * service's, for example a proxy's HTML. `webhook_invalid`: a delivery that must not be trusted.
 */
export type ClientErrorCode = 'network' | 'timeout' | 'protocol' | 'webhook_invalid'
