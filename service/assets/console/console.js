// Shortcuts for the console, which works without them: `/` goes to the search field; `g` and a letter opens a page; `?`
// stays the browser's.
let isGoing = false

document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  if (event.key === '/') {
    event.preventDefault()
    document.querySelector('#find')?.focus()
  } else if (isGoing) {
    isGoing = false
    const links = [...document.querySelectorAll('a[data-key]')]
    links.find(link => link.dataset.key === event.key)?.click()
  } else isGoing = event.key === 'g'
})

// A form that needs a passkey is sent once the device has provided one; without script it is sent without a passkey,
// and says so.
document.addEventListener('submit', async event => {
  const form = event.target
  const wish = form.closest('[data-passkey]')
  const answer = form.elements.answer
  if (!wish || answer.value !== '') return
  event.preventDefault()
  const told = form.querySelector('[role=status]')
  told.textContent = ''
  try {
    answer.value = JSON.stringify(await askForPasskey(wish.dataset.passkey, JSON.parse(wish.dataset.options)))
    form.requestSubmit()
  } catch {
    told.textContent = 'Your device gave no passkey: it has none for this address, or you broke it off.'
  }
})

/** The device's answer as text; rejects when it provides none. */
async function askForPasskey(kind, options) {
  const publicKey = { ...options, challenge: bytesOf(options.challenge) }
  if (kind === 'create') {
    publicKey.user = { ...options.user, id: bytesOf(options.user.id) }
    publicKey.excludeCredentials = options.excludeCredentials.map(one => ({ ...one, id: bytesOf(one.id) }))
  }
  const { id, type, response } = await navigator.credentials[kind]({ publicKey })
  const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']
  const given = parts.filter(name => response[name]).map(name => [name, textOf(response[name])])
  const transports = response.getTransports?.() ?? []
  return {
    ...{ id, rawId: id, type, clientExtensionResults: {} },
    response: { ...Object.fromEntries(given), transports },
  }
}

function bytesOf(text) {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(plain, character => character.charCodeAt(0))
}

function textOf(buffer) {
  const plain = String.fromCharCode(...new Uint8Array(buffer))
  return btoa(plain).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

// A form is not sent twice; the browser's back button loads it anew. A form whose answer is a file leaves the page as it
// is, and nothing says that the file has arrived, so its button stays usable.
document.addEventListener('submit', event => {
  if (event.defaultPrevented || (event.submitter ?? event.target).closest('[data-download]')) return
  const buttons = event.target.querySelectorAll('button')
  setTimeout(() => {
    for (const button of buttons) button.disabled = true
  })
})
window.addEventListener('pageshow', () => {
  for (const answer of document.querySelectorAll('[data-passkey] [name=answer]')) answer.value = ''
  for (const button of document.querySelectorAll('button[disabled]')) button.disabled = false
})

function isTyping(target) {
  return target instanceof HTMLElement && target.closest('input, textarea, select') !== null
}
