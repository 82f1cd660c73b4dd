// Comfort at the console: everything works without it. `/` finds; `g` and a letter goes; `?` is left to the browser.
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

// A form that was sent is not sent twice; the browser's back button brings a fresh one.
document.addEventListener('submit', event => {
  const buttons = event.target.querySelectorAll('button')
  setTimeout(() => {
    for (const button of buttons) button.disabled = true
  })
})
window.addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll('button[disabled]')) button.disabled = false
})

function isTyping(target) {
  return target instanceof HTMLElement && target.closest('input, textarea, select') !== null
}
