import { doctor as testReceiver } from '@benefit-enrolment/cli'
import type { Command } from '@benefit-enrolment/command'
import { checkSignIn } from './sign-in-check.ts'

/** `enrolment doctor`: tests a receiver as partners do, or without an address this machine. */
export const doctor: Command = {
  ...testReceiver,
  arguments: ['[URL]'],
  summary:
    'Test a webhook receiver and say what to correct; without URL, this Node.js and the identity provider of the console.',
  run: input => (input.positionals.length === 0 ? checkSignIn(input) : testReceiver.run(input)),
}
