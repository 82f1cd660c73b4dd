import type { Command } from '@benefit-enrolment/command'
import { doctor } from './doctor.ts'
import { profileCommands } from './login.ts'
import { partnerTools } from './tools.ts'

/** All commands of `benefit-enrolment`. */
export const partnerCommands: readonly Command[] = [...partnerTools, doctor, ...profileCommands]
