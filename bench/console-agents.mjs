// The operators of console.mjs, in a process of their own. Their browsers would run on other machines, so this process has
// a lower priority than the service and its partners.
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { send } from './console-request.mjs'

setPriority(10)
/** What was read of each screen. */
const reads = []
/** The same of screens that all agents opened in the same instant. */
const rush = []
let consoleUrl
let agents = []
let working = new AbortController()

const tasks = {
  meet({ url, sessions, people, partnerId }) {
    consoleUrl = url
    agents = sessions.map((session, index) => ({ session, index, people, partnerId, turn: index * 4 }))
  },
  async work() {
    working = new AbortController()
    await Promise.all(agents.map(agent => work(agent, working.signal)))
    process.send({ isResting: true })
  },
  rest: () => working.abort(),
  async rush() {
    const all = await Promise.all(agents.map(openNext))
    for (const agent of agents) agent.turn += 1
    rush.push(...all.filter(read => read !== undefined))
    process.send({ isResting: true })
  },
  tell: () => process.send({ reads, rush }, () => process.disconnect()),
}
process.on('message', ({ task, ...given }) => tasks[task](given))

/** One agent: reads for 1 to 3 s and opens the next screen, until it is stopped. */
async function work(agent, signal) {
  const rest = ms => sleep(ms, undefined, { signal }).catch(() => undefined)
  // As a round begins each is somewhere in its reading: ten people do not press in the same instant.
  await rest(3000 * Math.random())
  for (; !signal.aborted; agent.turn += 1) {
    const read = await openNext(agent)
    if (read === undefined) continue
    reads.push(read)
    await rest(1000 + 2000 * Math.random())
  }
}

/** Opens the screen whose turn it is; `undefined` where the list before it has no later page. */
async function openNext(agent) {
  const [name, path, sent, next] = visitOf(agent)
  // Files take turns: would each agent wait for whole ones of 50,000 lines, it would open hardly anything else.
  const most = name.endsWith('CSV') && name !== 'due, CSV' ? 100_000 : undefined
  let shown = await send(consoleUrl + path, { ...sent, most })
  if (next) {
    // The page before is read, too: it has the link.
    const link = new RegExp(`href="([^"]+)">${next}`).exec(shown.text)?.[1]?.replaceAll('&amp;', '&')
    if (link === undefined) return undefined
    shown = await send(consoleUrl + link, sent)
  }
  return { name, ms: shown.ms, status: shown.status }
}

/** The screen whose turn it is: its name, its path, how it is asked for, and the link that leads from there to it. */
function visitOf(agent) {
  const { index, people, partnerId, turn } = agent
  const { cookie, token, webhook, form } = agent.session
  const post = fields => ({
    method: 'POST',
    headers: { ...form, cookie },
    body: new URLSearchParams({ token, ...fields }).toString(),
  })
  const { userid, email, serviceid } = people[(turn * 7 + index) % people.length]
  const ofPartner = `partner=${partnerId}`
  // Since before the first entry, so that a search may go through all of them.
  const long = 'from=2000-01-01'
  const visits = [
    ['home', '/'],
    ['find by userid', '/find', post({ what: userid })],
    ['find by e-mail', '/find', post({ what: email })],
    ['find what is not there', '/find', post({ what: '01980000-0000-7000-8000-000000000000' })],
    ['user', `/users/${serviceid}`],
    ['cancel, previewed', `/users/${serviceid}/act/cancel`],
    ['link', `/users/${serviceid}/link`],
    ['due, 7 days', `/due?days=7&${ofPartner}`],
    ['due, 30 days', `/due?days=30&${ofPartner}`],
    ['due, latest first', `/due?days=30&${ofPartner}&sort=-at`],
    ['due, of a kind that nobody has', `/due?days=30&${ofPartner}&kind=swap`],
    ['due, a later page', `/due?days=30&${ofPartner}`, undefined, 'Next 100'],
    ['due, CSV', `/due.csv?days=30&${ofPartner}`],
    ['due, CSV, latest first', `/due.csv?days=30&${ofPartner}&sort=-at`],
    ['webhooks', '/webhooks'],
    ['webhooks, filtered', `/webhooks?state=disabled&${ofPartner}`],
    ['webhooks, CSV', '/webhooks.csv'],
    ...(webhook
      ? [
          ['webhook', `/webhooks/${webhook}`],
          ['deliveries', `/webhooks/${webhook}/deliveries`],
          ['deliveries, latest first', `/webhooks/${webhook}/deliveries?sort=-due`],
          ['deliveries, a later page', `/webhooks/${webhook}/deliveries`, undefined, 'Next page'],
          ['deliveries given up', `/webhooks/${webhook}/deliveries?state=given+up`],
          [
            'deliveries given up, newest first',
            `/webhooks/${webhook}/deliveries?state=given+up&sort=-raised`,
          ],
          ['deliveries, CSV', `/webhooks/${webhook}/deliveries.csv`],
          ['deliveries given up, CSV', `/webhooks/${webhook}/deliveries.csv?state=given+up&sort=-raised`],
        ]
      : []),
    ['partners', '/partners'],
    ['partners, CSV', '/partners.csv'],
    ['partner', `/partners/${partnerId}`],
    ['requests', '/requests'],
    ['requests, filtered', `/requests?state=refused&${ofPartner}`],
    ['requests, CSV', '/requests.csv'],
    ['catalogue', '/catalogue'],
    ['catalogue version', '/catalogue/versions/1'],
    ['audit', `/audit?${ofPartner}`],
    ['audit, oldest first', `/audit?${ofPartner}&${long}&sort=at`],
    ['audit, everybody', `/audit?${ofPartner}&who=all`],
    ['audit, everybody, oldest first', `/audit?${ofPartner}&who=all&${long}&sort=at`],
    ['audit, a later page', `/audit?${ofPartner}&who=all`, undefined, 'Older entries'],
    ['audit of a user', `/audit?${ofPartner}&who=all&${long}&user=${serviceid}`],
    ['audit, CSV', `/audit.csv?${ofPartner}`],
    ['audit, everybody, oldest first, CSV', `/audit.csv?${ofPartner}&who=all&sort=at`],
    ['service', '/service'],
  ]
  const [name, path, sent = { headers: { cookie } }, next] = visits[turn % visits.length]
  return [name, path, sent, next]
}
