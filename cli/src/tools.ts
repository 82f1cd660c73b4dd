import type { Command } from '@benefit-enrolment/command'
import { openLink } from './link.ts'
import { listen } from './listen.ts'
import { peopleCommands } from './people.ts'
import { trigger } from './trigger.ts'

/** The commands that `enrolment` has, too: they call the API with the partner's own credentials. */
export const partnerTools: readonly Command[] = [listen, trigger, openLink, ...peopleCommands]
