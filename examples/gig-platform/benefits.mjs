// @ts-check
// All that a platform's server does with the service: share what it knows, list, mint a link, exchange a result.
import { createHash } from 'node:crypto'
import { createClient, isBenefitEnrolmentError } from '@benefit-enrolment/client'

/**
 * @typedef {object} Driver
 * @property {string} userid
 * @property {string} firstname
 * @property {string} lastname
 * @property {string} email
 * @property {string} phone
 * @property {string} dob
 * @property {string} street
 * @property {string} city
 * @property {string} state
 * @property {string} zipcode
 * @property {'en' | 'es'} locale
 */

/**
 * Opens the way to the service. `onCall` hears of every answer, for the panel that shows what happens.
 * @param {import('./platform.mjs').Settings} settings
 * @param {(call: object) => void} onCall
 */
export async function openBenefits(settings, onCall) {
  const { service, partnerId, clientId, clientSecret, apiKey } = settings
  const client = createClient({
    ...{ baseUrl: service, clientId, clientSecret, apiKey },
    onResponse: ({ operation, status, ms }) => onCall({ operation, status, ms: Math.round(ms) }),
  })
  // The drop-in's address carries its version, and its hash lets the browser check what it got.
  const dropIn = await (await fetch(`${service}/embed/`)).json()

  let clock = new Date()

  return {
    service,
    partnerId,
    /** @type {{ path: string, integrity: string }} */
    dropIn,

    /** Shares what the driver told us, so that the page is filled in. @param {Driver} driver */
    async share(driver) {
      const { userid, firstname, lastname, email, phone, dob, street, city, state, zipcode } = driver
      const address = { addline1: street, addline2: '', addline3: '', city, state, zipcode }
      const prefill = { userid, firstname, lastname, email, phone, dob, zipcode, address }
      // A hash of the data and a counter of our own: the same write again has the same key.
      const idempotencyKey = createHash('sha256')
        .update(`1 ${JSON.stringify(prefill)}`)
        .digest('hex')
      await client.prefillUser(prefill, { idempotencyKey })
    },

    /** The tiles to show, and where the driver stands. @param {Driver} driver */
    async standingOf({ userid, dob, state, zipcode, locale }) {
      const request = { userid, age: ageOf(dob), state, zipcode, partnername: '', offername: '' }
      const [tiles, user] = await Promise.all([
        client.getBenefits(request, { acceptLanguage: locale }),
        client.getUser({ userid }),
      ])
      return {
        tiles,
        status: user.status,
        offer: 'currentofferdetails' in user ? user.currentofferdetails.offer : '',
      }
    },

    /**
     * A token for the embed, or an address to send the driver to.
     * @param {Driver} driver
     * @param {{ deeplinkdata?: string, backTo?: string }} wish
     */
    async linkFor({ userid, locale }, { deeplinkdata, backTo }) {
      const link = await client.createLinkToken({
        ...{ userid, locale },
        ...(deeplinkdata ? { deeplinkdata } : {}),
        ...(backTo ? { delivery: 'hosted', redirecturl: backTo } : { delivery: 'embed' }),
      })
      return backTo ? { linkurl: link.linkurl } : { token: link.linktoken }
    },

    /** What the session came to, told by the service itself. @param {Driver} driver @param {string} resulttoken */
    async resultFor({ userid }, resulttoken) {
      const result = await client.exchangeResult({ resulttoken })
      if (result.userid !== userid) throw new Error('This result is not about the driver who is signed in.')
      return { outcome: result.outcome, reference: result.reference }
    },

    /** Moves the sandbox's clock past the first of the next month: what is pending takes effect. */
    async nextMonth() {
      clock = new Date(Date.UTC(clock.getUTCFullYear(), clock.getUTCMonth() + 1, 1, 12))
      return client.advanceClock({ advanceto: clock.toISOString() })
    },
  }
}

/** A sentence for people. @param {unknown} error */
export function sentenceOf(error) {
  if (isBenefitEnrolmentError(error)) return error.userMessage || error.message
  return error instanceof Error ? error.message : 'Something failed.'
}

/** @param {string} dob */
function ageOf(dob) {
  const [year = 0, month = 1, day = 1] = dob.split('-').map(Number)
  const now = new Date()
  const had = now.getMonth() + 1 > month || (now.getMonth() + 1 === month && now.getDate() >= day)
  return now.getFullYear() - year - (had ? 0 : 1)
}
