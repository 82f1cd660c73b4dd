export { doctor } from './doctor.ts'
export { withPartner } from './partner.ts'
export { makePeople } from './people.ts'
export { partnerTools } from './tools.ts'
