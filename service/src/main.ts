import { startProgram } from '@benefit-enrolment/command'
import { enrolment } from './program.ts'

startProgram(enrolment)
