import { CommandError } from '@benefit-enrolment/command'

/**
 * A mistake that the operator can correct: the message says what is wrong and what to do. The command prints it and
 * exits with 1.
 */
export class OperatorError extends CommandError {
  override name = 'OperatorError'
}
