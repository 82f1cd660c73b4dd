// The docs work without this script: it adds results while a word is typed, one language for all samples, and a button that copies
// a sample.
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
  const found = await (list.dataset.entries ? findHere(question) : askService(question))
  // A slower answer to an earlier question must not replace a newer one.
  if (mine !== asked) return
  list.replaceChildren(...(found.length > 0 ? found.slice(0, 8).map(entry) : [nothing()]))
  list.hidden = false
}

async function askService(question) {
  const answer = await fetch(`${list.dataset.search}?q=${encodeURIComponent(question)}`)
  if (!answer.ok) throw new Error(`The search answered ${answer.status}`)
  return answer.json()
}

let here

/** In a copy of the site without a service, the browser searches. */
async function findHere(question) {
  const base = new URL(list.dataset.entries, document.baseURI)
  here ??= Promise.all([import(new URL('search.js', base)), fetch(base).then(answer => answer.json())])
  const [{ search }, entries] = await here
  return search(entries, question).map(({ path, ...found }) => {
    const [page, id] = path.split('#')
    return { ...found, href: new URL(`${page}.html${id ? `#${id}` : ''}`, base).href }
  })
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

// Without a service nothing answers the form.
if (list.dataset.entries) input.form.addEventListener('submit', event => event.preventDefault())
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

// One language for all samples of all pages. The browser keeps it; nothing is sent to the service.
const KEPT = 'benefit-enrolment-docs-language'
const samples = [...document.querySelectorAll('main .sample')]
const groups = samples
  .filter(sample => !sample.previousElementSibling?.matches('.sample'))
  .map(first => {
    const group = [first]
    while (group.at(-1).nextElementSibling?.matches('.sample')) group.push(group.at(-1).nextElementSibling)
    return group
  })

function languageOf(sample) {
  return sample.querySelector('summary').textContent
}

function showLanguage(wanted) {
  for (const group of groups) {
    const shown = group.find(sample => languageOf(sample) === wanted)
    for (const sample of group) {
      sample.hidden = shown !== undefined && sample !== shown
      sample.open = sample === (shown ?? group[0])
    }
  }
}

function keptLanguage() {
  try {
    return localStorage.getItem(KEPT)
  } catch {
    return null
  }
}

if (groups.length > 0) {
  const label = document.createElement('label')
  const select = document.createElement('select')
  const languages = [...new Set(samples.map(languageOf))]
  const kept = keptLanguage()
  // A choice that this page has no sample of stays for the others.
  if (kept && !languages.includes(kept)) languages.push(kept)
  select.append(...languages.map(name => new Option(name, name, false, name === kept)))
  label.className = 'language'
  label.append('Samples in ', select)
  document.querySelector('header').append(label)
  showLanguage(select.value)
  select.addEventListener('change', () => {
    showLanguage(select.value)
    try {
      localStorage.setItem(KEPT, select.value)
    } catch {
      // Where nothing may be stored the choice holds for this page.
    }
  })
}
