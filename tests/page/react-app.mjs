import { BenefitEnrolment, useBenefitEnrolment } from '@benefit-enrolment/embed/react'
import { createElement, StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'

const { service, partner, inline } = Object.fromEntries(new URLSearchParams(location.search))
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
    : createElement(WithHook)
  return createElement(
    'main',
    null,
    createElement('button', { type: 'button', onClick: () => setShown(false) }, 'Take away'),
    createElement('button', { type: 'button', onClick: () => setLocale('es') }, 'In Spanish'),
    shown && embed,
  )
}

createRoot(document.getElementById('app')).render(createElement(StrictMode, null, createElement(App)))
