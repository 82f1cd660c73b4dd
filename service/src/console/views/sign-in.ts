import { html } from '../../http/html.ts'
import type { Operator } from '../../operators/operator.ts'
import type { ProviderFailure } from '../../operators/provider.ts'
import type { ConsolePage } from '../screen/screen.ts'

/** The page behind a valid sign-in link. */
export function signInWithLink({ name, role }: Operator): ConsolePage {
  return {
    title: 'Sign in',
    body: html`<p>This link signs you in as <strong>${name}</strong> (${role}), once.</p>
<form method="post"><button class="primary">Sign in</button></form>
<p class="hint">You stay signed in for 8 hours. What you look at and do is put on record.</p>`,
  }
}

/** The page behind a sign-in link that no longer works; its words are the same for every reason. */
export function linkEnded(): ConsolePage {
  return {
    title: 'This link has ended',
    status: 410,
    body: html`<p>A sign-in link works once, for 24 hours, until a newer one is made.</p>
<p>Whoever runs the service makes a new one:</p>
<pre><code>enrolment operator link NAME</code></pre>`,
  }
}

/** The identity provider at which operators sign in, with the path that leads there. */
export type WayIn = { readonly name: string; readonly path: string }

/** The page at every address for somebody without a session. */
export function signedOut(wasSignedIn: boolean, provider: WayIn | undefined): ConsolePage {
  return {
    title: wasSignedIn ? 'You are signed out' : 'Sign in',
    body: html`${!wasSignedIn && html`<p>You are not signed in, or your 8 hours are over.</p>`}
${provider && html`<p><a class="button" href="${provider.path}">Sign in at ${provider.name}</a></p>`}
<p>${
      provider ? 'If you have a sign-in link, open that instead.' : 'Open your sign-in link.'
    } Whoever runs the service makes a new one:</p>
<pre><code>enrolment operator link NAME</code></pre>`,
  }
}

/** The page for a session that has ended here, on the way to ending the provider's session too. */
export function signingOutOf(name: string, address: string): ConsolePage {
  return {
    title: 'You are signed out here',
    body: html`<p>Next you are signed out at ${name}. If nothing happens:
<a href="${address}">sign out at ${name}</a>.</p>`,
  }
}

/** Why the provider, or the service, signs nobody in. */
type Failure = ProviderFailure | 'ended' | 'no role' | 'disabled'

/** Why the sign-in at the identity provider failed, and what helps. */
export function notSignedIn(why: Failure, name: string): ConsolePage {
  const [status, words] = reasonsAt(name)[why]
  return {
    title: 'You are not signed in',
    status,
    body: html`<p>${words}</p>
${why !== 'disabled' && html`<p><a class="button" href="/sign-in/provider">Try again</a></p>`}`,
  }
}

function reasonsAt(name: string): Readonly<Record<Failure, readonly [status: number, words: string]>> {
  return {
    ended: [400, 'This sign-in was begun in another browser, or more than 10 minutes ago. Begin again.'],
    used: [400, 'This sign-in was used before, or took too long. Begin again.'],
    declined: [403, `${name} did not sign you in, or you broke it off there.`],
    away: [503, `${name} does not answer. Try again in some minutes; who has a sign-in link can use that.`],
    clocks: [
      502,
      `The clock of ${name} and that of this service differ. Whoever runs the service has to set one right.`,
    ],
    wrong: [
      502,
      `The answer of ${name} was not what it should be, so it was not believed. If it happens twice, tell whoever runs the service: the log says why.`,
    ],
    'no role': [
      403,
      `You are signed in at ${name}, but none of your groups there has a role here. Whoever looks after the groups can add you; then try again.`,
    ],
    disabled: [403, 'Your access to the console was ended. Whoever runs the service can give it back.'],
  }
}
