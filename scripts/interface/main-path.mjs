// Runs the client against an address, such as Prism's: prefills, lists, creates, changes and cancels a user.
import { createClient } from '@benefit-enrolment/client'

const [baseUrl] = process.argv.slice(2)
const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, API_KEY: apiKey } = process.env
const client = createClient({ baseUrl, clientId, clientSecret, apiKey, tries: 1, timeoutMs: 30_000 })
const userid = `path-${Date.now()}`
const person = {
  firstname: 'Ada',
  lastname: 'Rivera',
  email: 'ada@example.com',
  dob: '1990-03-27',
  zipcode: '33101',
}

await client.prefillUser({ userid, ...person, address: { state: 'FL' } })
await client.getBenefits({ userid, age: 36, state: 'FL', zipcode: '33101' })
await client.createUser({ userid, offername: 'starter', benefits: ['telehealth', 'dental'] })
await client.updateUser({ userid, phone: '3055550142' })
await client.getUser({ userid, include: ['timeline'] })
await client.swapBenefits({ userid, add: ['vision'], remove: ['dental'] })
await client.undoSwap({ userid })
await client.previewOfferChange({ userid, offername: 'plus' })
await client.changeOffer({ userid, offername: 'plus' })
await client.createLinkToken({ userid })
await client.listEvents({ userid })
await client.listWebhooks({})
await client.cancelUser({ userid })
await client.reinstateUser({ userid })
await client.eraseUser({ userid })
