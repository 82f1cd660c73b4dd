// The page of the platform: its own form, its own tiles, and one button that opens the embed.

const $ = id => document.getElementById(id)
let driver

/** Our look, checked by the service: every pair of colours must be readable in light and in dark. */
const appearance = {
  scheme: 'auto',
  light: { accent: '#0b4f8a', background: '#f3f6fa' },
  dark: { accent: '#8ec5ff', onaccent: '#06213a', background: '#0d1620', surface: '#152130' },
  radius: 14,
}

let deeplinkdata
const embed = BenefitEnrolment.create({
  appearance,
  // Called when the embed opens, and again should the token have expired meanwhile.
  token: async () => (await ask('linktoken', { deeplinkdata })).token,
  onSuccess: async ({ resulttoken }) => {
    // What the browser says is a hint: our server asks the service, and the webhook is the truth.
    const { outcome, reference } = await ask('result', { resulttoken })
    $('said').textContent = `The service confirms: ${outcome}, reference ${reference}.`
    await refresh()
  },
  onExit: () => refresh(),
  onEvent: event => {
    const more = event.view ?? event.code ?? event.outcome ?? ''
    addLine($('events'), event.name, more, event.name === 'ERROR' ? 'bad' : '')
  },
})

$('signup').addEventListener('submit', async event => {
  event.preventDefault()
  const button = event.submitter
  button.disabled = true
  try {
    await ask('drivers', Object.fromEntries(new FormData(event.target)))
    await refresh()
  } catch (error) {
    say(error.message)
  } finally {
    button.disabled = false
  }
})
$('open').addEventListener('click', () => openEmbed())
$('hosted').addEventListener('click', async () => {
  const { linkurl } = await ask('linktoken', { hosted: true })
  location.assign(linkurl)
})
$('leave').addEventListener('click', async () => {
  await ask('leave')
  await refresh()
})
$('nextmonth').addEventListener('click', async () => {
  try {
    const { now } = await ask('nextmonth')
    say(`In this sandbox it is now ${new Date(now).toUTCString()}.`)
    await refresh()
  } catch (error) {
    say(error.message)
  }
})

function openEmbed(link) {
  deeplinkdata = link
  embed.update({ locale: driver.locale })
  embed.open()
}

/** Asks our own server; it knows who is signed in. */
async function ask(path, body) {
  const response = await fetch(`/demo/api/${path}`, {
    ...(path === 'me' ? {} : { method: 'POST', body: JSON.stringify(body ?? {}) }),
    headers: { 'content-type': 'application/json' },
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

async function refresh() {
  const me = await ask('me')
  driver = me.driver
  $('welcome').hidden = Boolean(driver)
  $('home').hidden = !driver
  $('who').hidden = !driver
  if (!driver) return
  const member = me.status === 'active'
  $('greeting').textContent = `Good to see you, ${driver.firstname}`
  $('name').textContent = `${driver.firstname} ${driver.lastname}`
  $('status').textContent = member ? 'Active' : 'Not yet'
  $('offer').textContent = member ? `plan “${me.offer}”` : me.status
  $('open').textContent = member ? 'Manage my benefits' : 'Set up my benefits'
  $('headline').textContent = member ? 'You are covered' : 'Your benefits are ready'
  $('subline').textContent = member
    ? 'Swap a benefit, change your plan, or add one.'
    : 'It takes about five minutes. Your details are filled in already.'
  $('tiles').replaceChildren(...me.tiles.map(tileOf))
}

const words = { enrol: 'Choose', manage: 'See', swap: 'Swap in', details: 'Read more' }

/** A tile for each benefit; its deeplinkdata says where a click is to lead. */
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
  const chip = element('span', `chip ${benefit.status}`, benefit.status === 'enrolled' ? 'Enrolled' : 'Open')
  const button = element('button', 'plain', words[route])
  button.type = 'button'
  button.setAttribute('aria-label', `${words[route]}: ${benefit.displayname}`)
  button.addEventListener('click', () => openEmbed(benefit.deeplinkdata))
  const foot = element('div', 'foot')
  foot.append(chip, button)
  tile.append(icon, text, foot)
  return tile
}

const live = new EventSource('/demo/live')
live.addEventListener('call', ({ data }) => {
  const { operation, status, ms } = JSON.parse(data)
  addLine($('calls'), operation, `${status} in ${ms} ms`, status < 400 ? '' : 'bad')
})
live.addEventListener('webhook', ({ data }) => {
  addDelivery(JSON.parse(data))
  void refresh()
})

function addDelivery({ receivedat, headers, body }) {
  const entry = element('li')
  const details = element('details')
  const summary = element('summary')
  summary.append(
    element('code', '', body.eventname),
    element('time', '', new Date(receivedat).toLocaleTimeString()),
  )
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  details.append(summary, element('pre', '', `${lines.join('\n')}\n\n${JSON.stringify(body, null, 2)}`))
  entry.append(details)
  prepend($('inbox'), entry)
}

function addLine(list, name, more, kind) {
  const line = element('li', kind)
  line.append(element('code', '', name), element('span', '', more))
  prepend(list, line)
}

function prepend(list, line) {
  list.querySelector('.empty')?.remove()
  list.prepend(line)
  while (list.children.length > 30) list.lastElementChild.remove()
}

function element(tag, className = '', text = '') {
  const made = document.createElement(tag)
  if (className) made.className = className
  if (text) made.textContent = text
  return made
}

function say(text) {
  $('said').textContent = text
}

for (const delivery of await (await fetch('/demo/inbox')).json()) addDelivery(delivery)
await refresh()
