import { randomBytes } from 'node:crypto'
import type { DemoCredentials } from './demo-partner.ts'

/** What the text shows. */
type Shown = {
  baseUrl: string
  demo: DemoCredentials
  inbox: string
  site: string
  consoleLink: string | undefined
  /** The command that imports the members of the example, where there is one. */
  importCommand?: string | undefined
  /** The commands that tell the made-up insurer, and show its answers, where the demo feed is published. */
  feedCommands?: string | undefined
  /** Whether curl would ask a proxy, which does not reach this machine by its loopback address. */
  isProxied: boolean
}

/**
 * The text that `enrolment dev` prints: credentials, and curl commands that work as printed, from the token to the
 * webhooks.
 */
export function walkThrough(shown: Shown): string {
  const { baseUrl, demo, inbox, site, consoleLink, importCommand, feedCommands, isProxied } = shown
  // Each start uses a new user, so that the commands give the same answers again.
  const userid = `demo-${randomBytes(3).toString('hex')}`
  const headers = `-H "Authorization: Bearer $TOKEN" -H "x-api-key: $API_KEY" -H 'Content-Type: application/json'`
  const prefill = JSON.stringify({
    userid,
    firstname: 'Ada',
    lastname: 'Rivera',
    email: 'ada.rivera@example.com',
    dob: '1990-03-27',
    zipcode: '33101',
    phone: '3055550142',
    gender: 'F',
    address: {
      addline1: '12 Ocean Drive',
      addline2: '',
      addline3: '',
      city: 'Miami',
      state: 'FL',
      zipcode: '33101',
    },
  })
  const benefits = JSON.stringify({
    userid,
    age: 36,
    state: 'FL',
    zipcode: '33101',
    partnername: '',
    offername: '',
  })
  const child = { relationship: 'child', firstname: 'Leo', lastname: 'Rivera', dob: '2019-05-04' }
  const create = JSON.stringify({
    userid,
    offername: 'starter',
    benefits: ['telehealth', 'dental'],
    dependants: [{ ...child, benefits: [{ name: 'dental' }] }],
  })
  const post = (path: string, body: string, more = '') =>
    `curl -sS -X POST '${baseUrl}${path}' ${headers}${more} -d '${body}'; echo`
  const withoutProxy = isProxied ? `export no_proxy="127.0.0.1,$no_proxy"\n` : ''
  return `
  START HERE     ${site}   a partner's site: sign up, enroll, watch the webhooks arrive

  base url       ${baseUrl}
  client id      ${demo.clientid}
  client secret  ${demo.clientsecret}
  api key        ${demo.apikey}
  webhook inbox  ${inbox}
${consoleLink === undefined ? '' : `  console        ${consoleLink}   signs you in once, as an administrator\n`}
Try it, in another terminal:

# 1. a token
${withoutProxy}API_KEY='${demo.apikey}'
TOKEN=$(curl -sS -u '${demo.clientid}:${demo.clientsecret}' -d grant_type=client_credentials '${baseUrl}/oauth2/token' | sed -E 's/.*"access_token":"([^"]+)".*/\\1/')

# 2. prefill a user
${post('/user/prefill', prefill, ` -H 'Version: v2' -H 'Idempotency-Key: ${userid}-1'`)}

# 3. the same key again: 409, and it says that the first one worked
${post('/user/prefill', prefill, ` -H 'Version: v2' -H 'Idempotency-Key: ${userid}-1'`)}

# 4. the benefits open to the user
${post('/user/benefits', benefits)}

# 5. create the user with a child whom dental covers: the offer comes into force
${post('/user/account/create', create, ` -H 'Idempotency-Key: ${userid}-2'`)}

# 6. the benefits again: now some are enrolled
${post('/user/benefits', benefits)}

# 7. the child, and what covers it; the answer to 5 has the tier of dental, which decides what it costs
${post('/user/account/dependants/get', JSON.stringify({ userid }))}

# 8. the webhooks that arrived
curl -sS '${inbox}'
${step('9. 200 members of another platform move in, with their original dates', importCommand)}${step('10. the insurer is told who is covered; it answers within seconds, and refuses one person in ten', feedCommands)}`
}

/** A step of the commands; empty where there is no command for it. */
function step(words: string, command: string | undefined): string {
  return command === undefined ? '' : `\n# ${words}\n${command}\n`
}
