/**
 * A mistake that the person at the command line can correct: the message says what is wrong and what to do. The command
 * prints it and exits with 1.
 */
export class CommandError extends Error {
  override name = 'CommandError'
}

/** Words that are no valid command line: the command prints the message and exits with 2. */
export class UsageError extends CommandError {
  override name = 'UsageError'
}
