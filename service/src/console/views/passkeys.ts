import { html } from '../../http/html.ts'
import type { Passkey } from '../../operators/passkey-store.ts'
import { noPasskeysFor } from '../../operators/passkeys.ts'
import type { ConsolePage, Visit } from '../screen/screen.ts'
import { actionForm, part, table, when } from './parts.ts'

/** What somebody sees who wants to sign in with a passkey where there can be none. */
export function noPasskeyPage(origin: string, port: number): ConsolePage {
  return {
    title: 'Sign in with a passkey',
    body:
      noPasskeysFor(origin) === 'package'
        ? html`<p>${noPackage}</p>`
        : html`<p>Browsers keep passkeys for names, not for numbers. Open the console as <a href="http://localhost:${port}/sign-in/passkey">localhost</a>.</p>`,
  }
}

const noPackage =
  'This installation has no passkeys: its operator did not install the package that reads them, @simplewebauthn/server. A sign-in link works without.'

/** The page that asks a browser for a passkey. */
export function signInWithPasskeyPage(options: object, to: string): ConsolePage {
  return {
    title: 'Sign in with a passkey',
    body: html`<form method="post" action="/sign-in/passkey" data-passkey="get" data-options="${JSON.stringify(options)}">
<input type="hidden" name="to" value="${to}"><input type="hidden" name="answer" value="">
<button class="primary">Use a passkey</button>
<p class="hint" role="status"></p></form>
<p class="hint">Your device asks for a finger, a face or a PIN. You stay signed in for 8 hours. What you look at and do is put on record.</p>
<noscript><p>A passkey needs script, which your browser does not run here. Open a sign-in link instead.</p></noscript>`,
  }
}

/** The page for a passkey that did not sign in; its words are the same for every reason except a missing script. */
export function passkeyRefused(why: 'no script' | 'refused', to: string): ConsolePage {
  return {
    title: 'You are not signed in',
    status: why === 'no script' ? 422 : 403,
    body: html`<p>${
      why === 'no script'
        ? 'A passkey needs script, which your browser does not run here. Open a sign-in link instead.'
        : 'This passkey does not open the console: it was removed, its operator was disabled, or the page was older than 5 minutes.'
    }</p>
<p><a class="button" href="/sign-in/passkey?${new URLSearchParams({ to }).toString()}">Try again</a></p>`,
  }
}

/** An operator's own passkeys, and the button to add one if that is possible. */
export function passkeysPage(
  visit: Visit,
  passkeys: readonly Passkey[],
  options: object | undefined,
): ConsolePage {
  return {
    title: 'Your passkeys',
    body: html`<p>A passkey signs you in without a link: your device keeps it, and asks for your finger, face or PIN.</p>
${part(
  'Passkeys',
  table({
    caption: 'Your passkeys, times in UTC',
    columns: ['Added (UTC)', 'Last used (UTC)', 'Name', 'Remove'],
    rows: passkeys.map(({ id, createdAt, lastUsedAt }) => [
      when(createdAt, 'UTC'),
      lastUsedAt === undefined ? 'never' : when(lastUsedAt, 'UTC'),
      html`<code>${id.slice(0, 8)}</code>`,
      actionForm(visit, {
        action: '/passkeys/remove',
        button: html`Remove<span class="unseen"> ${id.slice(0, 8)}</span>`,
        fields: html`<input type="hidden" name="passkey" value="${id}">`,
      }),
    ]),
    empty: 'You have none yet.',
  }),
)}
${part('Add one', addingOf(visit, options))}`,
  }
}

function addingOf(visit: Visit, options: object | undefined) {
  if (options)
    return html`<div data-passkey="create" data-options="${JSON.stringify(options)}">${actionForm(visit, {
      action: '/passkeys/add',
      button: 'Add a passkey',
      look: 'primary',
      fields: html`<input type="hidden" name="answer" value=""><p class="hint" role="status"></p>`,
    })}</div><noscript><p>A passkey needs script. Sign-in links work without.</p></noscript>`
  return html`<p>${whyNone(visit)}</p>`
}

function whyNone({ operator, origin }: Visit): string {
  if (operator.issuer !== undefined) return 'You sign in at your identity provider, so you need none here.'
  const why = noPasskeysFor(origin)
  if (why === 'package') return noPackage
  return why === 'number'
    ? 'Browsers keep passkeys for names, not for numbers: open the console as localhost.'
    : 'You have as many as one may have. Remove one first.'
}
