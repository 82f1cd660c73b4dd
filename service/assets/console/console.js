// Shortcuts for the console, which works without them: `/` goes to the search field; `g` and a letter opens a page; `?`
// stays the browser's.
let isGoing = false
const collator = new Intl.Collator('en', { numeric: true })

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
  for (const button of document.querySelectorAll('button[disabled]')) button.disabled = false
})

function isTyping(target) {
  return target instanceof HTMLElement && target.closest('input, textarea, select') !== null
}

// A table of more than a few rows is sorted by a heading that is pressed, and pressed again the other way round. A cell with a
// time is sorted by it, any other by its text.
for (const table of document.querySelectorAll('table'))
  if (table.tBodies[0].rows.length > 7)
    for (const [column, heading] of [...table.tHead.rows[0].cells].entries()) {
      const button = document.createElement('button')
      button.append(...heading.childNodes)
      heading.append(button)
      button.addEventListener('click', () => {
        const down = heading.ariaSort === 'ascending'
        for (const other of table.tHead.rows[0].cells) other.ariaSort = 'none'
        heading.ariaSort = down ? 'descending' : 'ascending'
        const keyOf = ({ cells }) =>
          cells[column].querySelector('time')?.dateTime ?? cells[column].textContent
        const rows = [...table.tBodies[0].rows].sort((a, b) => collator.compare(keyOf(a), keyOf(b)))
        table.tBodies[0].append(...(down ? rows.reverse() : rows))
      })
    }
