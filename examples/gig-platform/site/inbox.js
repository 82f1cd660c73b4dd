// What happens behind the scenes, in lists that can be reached with the keyboard, with the visitor's own events
// first.
import { callWords, eventWords, momentWords } from './words.js'

function $(id) {
  return document.getElementById(id)
}
const MOST_SHOWN = 30
let own

/** Sets whose events are listed first, and sorts those that arrived before. */
export function setOwner(userid) {
  own = userid
  for (const entry of document.querySelectorAll('[data-userid]')) {
    const list = listOf(entry.dataset.userid)
    if (entry.parentElement === list) continue
    list.querySelector('.empty')?.remove()
    list.append(entry)
  }
  count()
}

export function addDelivery({ receivedat, headers, body }) {
  const entry = element('li')
  entry.dataset.userid = body.userid
  const details = element('details')
  const summary = element('summary')
  const named = element('span')
  named.append(element('strong', '', eventWords(body.eventname)), element('code', '', body.eventname))
  summary.append(named, element('time', '', new Date(receivedat).toLocaleTimeString()))
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  details.append(summary, element('pre', '', `${lines.join('\n')}\n\n${JSON.stringify(body, null, 2)}`))
  entry.append(details)
  prepend(listOf(body.userid), entry)
  count()
}

export function addCall({ operation, status, ms }) {
  addLine(
    $('calls'),
    { words: callWords(operation), name: operation },
    `${status} in ${ms} ms`,
    status >= 400,
  )
}

export function addMoment({ name, view, code, outcome }) {
  addLine($('events'), { words: momentWords(name), name }, view ?? code ?? outcome ?? '', name === 'ERROR')
}

function listOf(userid) {
  return userid === own ? $('inbox') : $('others')
}

/** The label of the button that leads here from further up on a phone. */
function count() {
  const many = $('inbox').querySelectorAll('[data-userid]').length
  $('tobehind').textContent = many === 0 ? 'Behind the scenes' : `Behind the scenes: ${many} of your events`
  $('othersbox').hidden = $('others').children.length === 0
}

function addLine(list, { words, name }, more, isBad) {
  const line = element('li', isBad ? 'bad' : '')
  const named = element('span')
  named.append(element('strong', '', words), element('code', '', name))
  line.append(named, element('span', 'more', more))
  prepend(list, line)
}

function prepend(list, line) {
  list.querySelector('.empty')?.remove()
  list.prepend(line)
  while (list.children.length > MOST_SHOWN) list.lastElementChild.remove()
}

export function element(tag, className = '', text = '') {
  const made = document.createElement(tag)
  if (className) made.className = className
  if (text) made.textContent = text
  return made
}
