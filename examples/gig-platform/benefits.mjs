// @ts-check
// Everything that a platform's server does with the service: shares what it knows, lists benefits, creates a link
// token, exchanges a result.
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
 * Connects to the service. `onCall` hears of every answer, for the panel that shows what happens.
 * @param {import('./platform.mjs').Settings} settings
 * @param {(call: object) => void} onCall
 */
export async function openBenefits(settings, onCall) {
  const { service, calls = service, partnerId, clientId, clientSecret, apiKey } = settings
  const client = createClient({
    baseUrl: calls,
    clientId,
    clientSecret,
    apiKey,
    onResponse: ({ operation, status, ms }) => onCall({ operation, status, ms: Math.round(ms) }),
  })
  // The drop-in's address contains its version; its hash lets the browser check what it loaded.
  const dropIn = await (await fetch(`${calls}/embed/`)).json()

  let clock = new Date()

  return {
    service,
    partnerId,
    /** @type {{ path: string, integrity: string }} */
    dropIn,

    /** Shares what the driver told the platform, so that the page is filled in. @param {Driver} driver */
    async share(driver) {
      const { userid, firstname, lastname, email, phone, dob, street, city, state, zipcode } = driver
      const address = { addline1: street, addline2: '', addline3: '', city, state, zipcode }
      const prefill = { userid, firstname, lastname, email, phone, dob, zipcode, address }
      // The key is a hash of the data and a counter of the platform, so that repeating the same write repeats its
      // key.
      const idempotencyKey = createHash('sha256')
        .update(`1 ${JSON.stringify(prefill)}`)
        .digest('hex')
      await client.prefillUser(prefill, { idempotencyKey })
    },

    /** The tiles to show, and the driver's status. @param {Driver} driver */
    async standingOf({ userid, dob, state, zipcode, locale }) {
      const request = { userid, age: ageOf(dob), state, zipcode, partnername: '', offername: '' }
      const [tiles, user] = await Promise.all([
        client.getBenefits(request, { acceptLanguage: locale }),
        client.getUser({ userid, include: ['timeline'] }, { acceptLanguage: locale }),
      ])
      return {
        tiles,
        status: user.status,
        plan:
          'currentofferdetails' in user
            ? (planNames[user.currentofferdetails.offer]?.[locale] ?? user.currentofferdetails.offer)
            : '',
        swap: swapOf(user),
      }
    },

    /**
     * A token for the embed, or an address to send the driver to.
     * @param {Driver} driver
     * @param {{ deeplinkdata?: string, purpose?: 'swap', backTo?: string }} wish
     */
    async linkFor({ userid, locale }, { deeplinkdata, purpose, backTo }) {
      const link = await client.createLinkToken({
        userid,
        locale,
        ...(deeplinkdata ? { deeplinkdata } : {}),
        ...(purpose ? { purpose } : {}),
        ...(backTo ? { delivery: 'hosted', redirecturl: backTo } : { delivery: 'embed' }),
      })
      return backTo ? { linkurl: link.linkurl } : { token: link.linktoken }
    },

    /** The session's result, asked from the service itself. @param {Driver} driver @param {string} resulttoken */
    async resultFor({ userid }, resulttoken) {
      const result = await client.exchangeResult({ resulttoken })
      if (result.userid !== userid) throw new Error('This result is not about the driver who is signed in.')
      return { outcome: result.outcome, reference: result.reference }
    },

    /** Moves the sandbox's clock past the first of the next month, so that pending changes take effect. */
    async nextMonth() {
      // After a restart the sandbox may be months ahead of this process, and its clock goes forward only.
      for (let months = 0; ; months += 1) {
        clock = new Date(Date.UTC(clock.getUTCFullYear(), clock.getUTCMonth() + 1, 1, 12))
        try {
          return await client.advanceClock({ advanceto: clock.toISOString() })
        } catch (error) {
          if (months === 60 || !isBenefitEnrolmentError(error) || error.status !== 400) throw error
        }
      }
    },
  }
}

/**
 * The plans' names as the platform shows them; the service knows them by the names of its offers. @type
 * {Record<string, Record<string, string>>}
 */
const planNames = {
  starter: { en: 'Starter', es: 'Inicial' },
  plus: { en: 'Plus', es: 'Plus' },
  premier: { en: 'Premier', es: 'Premier' },
}

/** The state of the driver's last swap. @param {object} user @returns {'none' | 'pending' | 'done'} */
function swapOf(user) {
  if ('conditions' in user && Array.isArray(user.conditions) && user.conditions.includes('swappending'))
    return 'pending'
  const timeline = 'timeline' in user && Array.isArray(user.timeline) ? user.timeline : []
  return timeline.some(({ why }) => why === 'swapped out') ? 'done' : 'none'
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
