import { readFileSync } from 'node:fs'
import type { Command, Program } from '@benefit-enrolment/command'
import { doctor } from './doctor.ts'
import { openLink } from './link.ts'
import { listen } from './listen.ts'
import { profileCommands } from './login.ts'
import { peopleCommands } from './people.ts'
import { trigger } from './trigger.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

const commands: readonly Command[] = [
  listen,
  trigger,
  openLink,
  ...peopleCommands,
  doctor,
  ...profileCommands,
]

/** The program `benefit-enrolment`, whose commands call the API with the partner's own credentials. */
export const benefitEnrolment: Program = {
  name: 'benefit-enrolment',
  title: 'what a partner of the Benefit Enrolment Integration Service runs',
  version,
  options: {},
  groups: [{ words: commands.flatMap(({ name }) => name.split(' ', 1)), load: async () => commands }],
  notes: [
    'Credentials: --profile NAME, or CLIENT_ID, CLIENT_SECRET and API_KEY, or a sandbox started in this folder,',
    'or the profile of `benefit-enrolment login`. Each command takes --json and --help.',
  ],
  failed: async error => ({
    text: `This is a fault of the program: ${error instanceof Error ? error.stack : error}`,
    code: 70,
  }),
}
