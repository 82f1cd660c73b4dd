import { BenefitEnrolment, useBenefitEnrolment } from '@benefit-enrolment/embed/react'
import { createElement, StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'

const { service, partner, inline, given } = Object.fromEntries(new URLSearchParams(location.search))
async function token() {
  globalThis.asked = (globalThis.asked ?? 0) + 1
  return (await fetchToken()).trim()
}
const heard = []
Object.assign(globalThis, { heard })

/** The host's policy grants no connection, so that the test hands the tokens in. */
function fetchToken() {
  return globalThis.nextToken()
}

function WithHook() {
  const { open } = useBenefitEnrolment({
    service,
    partner,
    token,
    onEvent: event => heard.push(event),
  })
  return createElement('button', { type: 'button', onClick: open }, 'My benefits')
}

/** Gives each token as a text, which a rerender replaces. */
function WithTexts() {
  const [at, setAt] = useState(0)
  const { open } = useBenefitEnrolment({ service, partner, token: globalThis.given[at] ?? 'none' })
  return [
    createElement('button', { key: 'open', type: 'button', onClick: open }, 'My benefits'),
    createElement('button', { key: 'new', type: 'button', onClick: () => setAt(at + 1) }, 'New token'),
  ]
}

function App() {
  const [shown, setShown] = useState(true)
  const [locale, setLocale] = useState('en')
  const embed = inline
    ? createElement(BenefitEnrolment, {
        service,
        partner,
        token,
        locale,
        onEvent: event => heard.push(event),
      })
    : createElement(given ? WithTexts : WithHook)
  return createElement(
    'main',
    null,
    createElement('button', { type: 'button', onClick: () => setShown(false) }, 'Take away'),
    createElement('button', { type: 'button', onClick: () => setLocale('es') }, 'In Spanish'),
    shown && embed,
  )
}

createRoot(document.getElementById('app')).render(createElement(StrictMode, null, createElement(App)))
