import { html } from '../../http/html.ts'
import type { Operator } from '../operators/operator.ts'
import type { Page } from '../page/screen.ts'

/** The page behind a sign-in link that works. */
export function signInWithLink({ name, role }: Operator): Page {
  return {
    title: 'Sign in',
    body: html`<p>This link signs you in as <strong>${name}</strong> (${role}), once.</p>
<form method="post"><button class="primary">Sign in</button></form>
<p class="hint">You stay signed in for 8 hours. What you look at and do is put on record.</p>`,
  }
}

/** The page behind a sign-in link that no longer works; the same words for all reasons. */
export function linkEnded(): Page {
  return {
    title: 'This link has ended',
    body: html`<p>A sign-in link works once, for 24 hours, until a newer one is made.</p>
<p>Whoever runs the service makes a new one:</p>
<pre><code>enrolment operator link NAME</code></pre>`,
  }
}

/** What somebody without a session sees at every address. */
export function signedOut(wasSignedIn: boolean): Page {
  return {
    title: wasSignedIn ? 'You are signed out' : 'Sign in',
    body: html`${!wasSignedIn && html`<p>You are not signed in, or your 8 hours are over.</p>`}
<p>To sign in, open your sign-in link. Whoever runs the service makes a new one:</p>
<pre><code>enrolment operator link NAME</code></pre>`,
  }
}
