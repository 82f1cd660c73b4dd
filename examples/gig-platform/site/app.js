// The page of the platform: its own form, its own tiles, and one button that opens the embed.
import { addCall, addDelivery, addMoment, element, setOwner } from './inbox.js'
import { looks, paint } from './looks.js'
import { outcomeWords, statusWords } from './words.js'

function $(id) {
  return document.getElementById(id)
}
let driver
let link = {}
let lastAsked = 0

const embed = BenefitEnrolment.create({
  // Called when the embed opens, and again if the token has expired meanwhile.
  token: async () => (await ask('linktoken', link)).token,
  onSuccess: async ({ resulttoken }) => {
    // The browser's word is only a hint: the platform's server asks the service, and the webhook is authoritative.
    const { outcome, reference } = await ask('result', { resulttoken })
    $('said').textContent = `The service confirms ${outcomeWords(outcome)}, reference ${reference}.`
    await refresh()
  },
  onExit: () => refresh(),
  onEvent: addMoment,
})

// Areas that scroll can be reached with the keyboard.
for (const area of document.querySelectorAll('.scrolls, .behind')) area.tabIndex = 0
$('behind').tabIndex = -1
for (const [name, { name: words }] of Object.entries(looks)) $('look').append(new Option(words, name))
$('look').addEventListener('change', ({ target }) => paint(target.value))
$('signup').addEventListener('submit', async event => {
  event.preventDefault()
  await attempt(event.submitter, () => ask('drivers', Object.fromEntries(new FormData(event.target))))
})
$('open').addEventListener('click', () => openEmbed({}))
$('swap').addEventListener('click', () => openEmbed({ purpose: 'swap' }))
$('hosted').addEventListener('click', async () => {
  const { linkurl } = await ask('linktoken', { hosted: true })
  location.assign(linkurl)
})
$('leave').addEventListener('click', async () => {
  await ask('leave')
  await refresh()
  $('said').textContent = ''
})
$('nextmonth').addEventListener('click', ({ currentTarget }) =>
  attempt(currentTarget, async () => {
    const { now } = await ask('nextmonth')
    const day = new Date(now).toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' })
    say(`In this sandbox it is now ${day}. What was planned for the first of the month has been done.`)
  }),
)

function openEmbed(wish) {
  link = wish
  embed.update({ locale: driver.locale })
  embed.open()
}

/** Runs the work of a button, which is disabled meanwhile, and then refreshes the page. */
async function attempt(button, work) {
  button.disabled = true
  try {
    await work()
    await refresh()
  } catch (error) {
    say(error.message)
  } finally {
    button.disabled = false
  }
}

/** Asks the platform's own server, which knows who is signed in. */
async function ask(path, body) {
  const response = await fetch(`/demo/api/${path}`, {
    ...(path === 'me' ? {} : { method: 'POST', body: JSON.stringify(body ?? {}) }),
    headers: { 'content-type': 'application/json' },
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

/** Shows how things are now: of answers that overtake each other, the one that was asked for last. */
async function refresh() {
  const asked = ++lastAsked
  const me = await ask('me')
  if (asked !== lastAsked) return
  driver = me.driver
  $('welcome').hidden = Boolean(driver)
  $('home').hidden = !driver
  $('who').hidden = !driver
  setOwner(driver?.userid)
  tellStory(me)
  // The page is shown only now, so that nothing moves when the answer arrives.
  document.body.classList.add('ready')
  if (!driver) return
  const member = me.status === 'active'
  $('greeting').textContent = `Good to see you, ${driver.firstname}`
  $('name').textContent = `${driver.firstname} ${driver.lastname}`
  $('status').textContent = member ? me.plan : '–'
  $('offer').textContent = statusWords(me.status)
  $('open').textContent = member ? 'Manage my benefits' : 'Set up my benefits'
  $('swap').hidden = !member
  $('headline').textContent = member ? 'You are enrolled' : 'Your benefits are ready'
  $('subline').textContent = member
    ? 'Swap a benefit, change your plan, or add one.'
    : 'It takes about five minutes. Your details are filled in already.'
  $('tiles').replaceChildren(...me.tiles.map(tileOf))
}

/** Marks how far the visitor has come, from sign-up to a swap at the end of the month. */
function tellStory({ driver: known, status, swap }) {
  const reached = !known ? 0 : status !== 'active' ? 1 : swap === 'none' ? 2 : swap === 'pending' ? 3 : 4
  for (const [at, step] of [...$('story').children].entries()) {
    step.classList.toggle('done', at < reached)
    if (at === reached) step.setAttribute('aria-current', 'step')
    else step.removeAttribute('aria-current')
  }
}

const words = { enrol: 'Choose', manage: 'See', swap: 'Swap in', details: 'Read more' }

/** The tile of a benefit; a click opens the page at the place that its `deeplinkdata` names. */
function tileOf(benefit) {
  const route = new URLSearchParams(benefit.deeplinkdata).get('redirectto')
  const tile = element('li', 'tile')
  const icon = element('img')
  icon.src = benefit.icon
  icon.alt = ''
  icon.width = 48
  icon.height = 48
  const text = element('div')
  text.append(element('h3', '', benefit.displayname), element('p', '', benefit.description))
  const chip = element('span', `chip ${benefit.status}`, standingOf(benefit))
  const button = element('button', 'plain', words[route])
  button.type = 'button'
  button.setAttribute('aria-label', `${words[route]}: ${benefit.displayname}`)
  button.addEventListener('click', () => openEmbed({ deeplinkdata: benefit.deeplinkdata }))
  const foot = element('div', 'foot')
  foot.append(chip, button)
  tile.append(icon, text, foot)
  return tile
}

function standingOf({ status, isselectedforswap, swapexpiresattimestamp, swapeffectiveattimestamp }) {
  // The platform's own time zone: a swap on the first of a month there is not yet on the first in California.
  const zoned = { month: 'short', day: 'numeric', timeZone: 'America/New_York' }
  const day = at => new Date(at).toLocaleDateString('en-US', zoned)
  if (isselectedforswap && swapexpiresattimestamp) return `Swaps out ${day(swapexpiresattimestamp)}`
  if (isselectedforswap && swapeffectiveattimestamp) return `Swaps in ${day(swapeffectiveattimestamp)}`
  return status === 'enrolled' ? 'Enrolled' : 'Not enrolled'
}

const live = new EventSource('/demo/live')
live.addEventListener('call', ({ data }) => addCall(JSON.parse(data)))
live.addEventListener('webhook', ({ data }) => {
  addDelivery(JSON.parse(data))
  void refresh()
})

function say(text) {
  $('said').textContent = text
}

for (const delivery of await (await fetch('/demo/inbox')).json()) addDelivery(delivery)
await refresh()
