import type { Command } from '../command.ts'
import { doctor } from './doctor.ts'
import { openLink } from './link.ts'
import { listen } from './listen.ts'
import { peopleCommands } from './people.ts'
import { trigger } from './trigger.ts'

/** The commands that a partner runs, through the API with the partner's own credentials. */
export const partnerTools: readonly Command[] = [listen, trigger, doctor, openLink, ...peopleCommands]
