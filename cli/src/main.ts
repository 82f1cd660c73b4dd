import { readFileSync } from 'node:fs'
import { startProgram } from '@benefit-enrolment/command'
import { partnerCommands } from './commands.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string
}

startProgram({
  name: 'benefit-enrolment',
  title: 'what a partner of the Benefit Enrolment Integration Service runs',
  version,
  options: {},
  groups: [
    { words: partnerCommands.flatMap(({ name }) => name.split(' ', 1)), load: async () => partnerCommands },
  ],
  notes: [
    'Credentials: --profile NAME, or CLIENT_ID, CLIENT_SECRET and API_KEY, or a sandbox started in this folder,',
    'or the profile of `benefit-enrolment login`. Each command takes --json and --help.',
  ],
  failed: async error => ({
    text: `This is a fault of the program: ${error instanceof Error ? error.stack : error}`,
    code: 70,
  }),
})
