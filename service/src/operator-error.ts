/** A mistake that the operator can mend: the message says what is wrong and what to do; the command prints it and exits 1. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
