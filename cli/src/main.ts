import { startProgram } from '@benefit-enrolment/command'
import { benefitEnrolment } from './program.ts'

startProgram(benefitEnrolment)
