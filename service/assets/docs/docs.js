// The docs work without this script: it adds results while a word is typed, and a button that copies a sample.
const input = document.querySelector('#q')
const list = document.querySelector('#found')
let asked = 0

async function look() {
  const question = input.value.trim()
  asked += 1
  const mine = asked
  if (question.length < 2) {
    list.hidden = true
    return
  }
  const answer = await fetch(`${list.dataset.search}?q=${encodeURIComponent(question)}`)
  // A slower answer to an earlier question must not replace a newer one.
  if (mine !== asked || !answer.ok) return
  const found = await answer.json()
  list.replaceChildren(...(found.length > 0 ? found.slice(0, 8).map(entry) : [nothing()]))
  list.hidden = false
}

function entry({ title, href, excerpt }) {
  const link = document.createElement('a')
  const small = document.createElement('small')
  link.href = href
  small.textContent = excerpt
  link.append(title, small)
  return link
}

function nothing() {
  const text = document.createElement('p')
  text.textContent = 'Nothing was found.'
  return text
}

input.addEventListener('input', () => look().catch(() => {}))
document.addEventListener('keydown', event => {
  if (event.key === 'Escape') list.hidden = true
  if (event.key === '/' && !/^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')) {
    event.preventDefault()
    input.focus()
  }
})
document.addEventListener('click', event => {
  if (!event.target.closest('form')) list.hidden = true
})

for (const block of navigator.clipboard ? document.querySelectorAll('main pre') : []) {
  const holder = document.createElement('div')
  const button = document.createElement('button')
  holder.className = 'copied'
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent.trimEnd())
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  block.replaceWith(holder)
  holder.append(block, button)
}
