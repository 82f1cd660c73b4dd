export { withPartner } from './partner.ts'
export { makePeople } from './people.ts'
export { benefitEnrolment } from './program.ts'
