import { type Html, html } from '../../http/html.ts'
import { hasRight, type Right } from '../../operators/operator.ts'
import type { ConsoleFiles } from '../screen/console-files.ts'
import type { ConsolePage, OperatorVisit } from '../screen/screen.ts'

/** The entries of the navigation: the path, the key that leads there after `g`, and the right that it takes. */
const navigation: readonly { label: string; path: string; key: string; right: Right }[] = [
  { label: 'Users', path: '/', key: 'u', right: 'look' },
  { label: 'Due', path: '/due', key: 'd', right: 'look' },
  { label: 'Months', path: '/statements', key: 'm', right: 'look' },
  { label: 'Webhooks', path: '/webhooks', key: 'w', right: 'look' },
  { label: 'Feeds', path: '/feeds', key: 'f', right: 'look' },
  { label: 'Partners', path: '/partners', key: 'p', right: 'look' },
  { label: 'Requests', path: '/requests', key: 'r', right: 'support' },
  { label: 'Catalogue', path: '/catalogue', key: 'c', right: 'look' },
  { label: 'Integration', path: '/integration', key: 'i', right: 'rotate' },
  { label: 'Audit', path: '/audit', key: 'a', right: 'look' },
]

/** A page of the console with its layout, for an operator who is signed in. */
export function consoleDocument(
  visit: Pick<OperatorVisit, 'operator' | 'session' | 'path' | 'waiting'>,
  files: ConsoleFiles,
  page: ConsolePage,
): string {
  const { operator, session, waiting } = visit
  const present = entryPathOf(visit.path)
  const entries = navigation.filter(({ right }) => hasRight(operator, right))
  const body = html`${page.body}`
  return frame(
    files,
    page.title,
    html`<header class="top"><div class="bar">
<a class="brand" href="/"><span class="mark" aria-hidden="true">B</span><span>Benefits console</span></a>
${
  hasRight(operator, 'look') &&
  html`<form class="find" method="post" action="/find" role="search">${tokenField(session.formToken)}
<label class="unseen" for="find">Find a user, event or request</label>
<input id="find" name="what" type="search" placeholder="Find a user, event, request …"
autocomplete="off" spellcheck="false" required>
<button class="secondary">Find</button></form>`
}
<form class="who" method="post" action="/sign-out">${tokenField(session.formToken)}<span>
<span class="name">${operator.name}</span> <span class="hint">${operator.role}</span></span><button
class="quiet">Sign out</button></form>
<nav aria-label="Main"><ul>${entries.map(
      ({ label, path, key }) =>
        html`<li><a href="${path}" data-key="${key}"${path === present ? html` aria-current="page"` : ''}>${label}${
          path === '/requests' &&
          waiting > 0 &&
          html` <span class="tag wait" title="wait for you">${waiting}</span>`
        }</a></li>`,
    )}</ul></nav>
</div></header>
<main id="main">${body.markup.includes('class="clock"') && clocks}<h1>${page.heading ?? page.title}</h1>
${body}
</main>
${hasRight(operator, 'look') && html`<footer class="foot"><p class="hint"><kbd>/</kbd> find</p></footer>`}`,
  )
}

/** Opened, it shows the clock times of the page, of which only days are shown otherwise. */
const clocks = html`<details class="clocks"><summary>Clock times</summary>
<p class="hint">Shown now, in the partner’s time zone.</p></details>`

/** The path of the entry to which a screen belongs: the first part of its own. Finding somebody belongs to users. */
function entryPathOf(path: string | undefined): string | undefined {
  const [first] = /^\/[a-z]*/.exec(path ?? '') ?? []
  return first === '/users' || first === '/find' ? '/' : first
}

/** A page for somebody who is not signed in. */
export function plainDocument(files: ConsoleFiles, page: ConsolePage): string {
  return frame(
    files,
    page.title,
    html`<main id="main" class="alone"><p class="brand"><span class="mark"
aria-hidden="true">B</span><span>Benefits console</span></p><h1>${page.title}</h1>
${page.body}
</main>`,
  )
}

/** The hidden field that every form of a session contains. */
export function tokenField(token: string): Html {
  return html`<input type="hidden" name="token" value="${token}">`
}

function frame(files: ConsoleFiles, title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} – Benefits console</title>
<link rel="stylesheet" href="${files.stylesheet}">
<link rel="icon" href="${files.icon}" type="image/svg+xml">
<script src="${files.script}" type="module"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
${body}
</body>
</html>
`.markup
}
