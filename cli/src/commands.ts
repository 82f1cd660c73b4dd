import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { profileCommands } from './login.ts'
import { partnerTools } from './tools.ts'

/** All commands of `benefit-enrolment`. */
export const partnerCommands: readonly Command[] = [...partnerTools, doctor, ...profileCommands]
