import { type Html, html, type Slot } from '../../http/html.ts'
import { icon } from './icons.ts'
import { languages, passageIn, type Say, sayIn } from './say.ts'
import type { Page } from './surroundings.ts'

/** The content that a view puts into the page. */
export type Content = {
  /** The words of the `h1` and of the window's title. */
  readonly title: string
  readonly body: Slot
  /** True when the view shows errors: the title then says so first. */
  readonly faulty?: boolean
  /**
   * True when the view has a form `answers`; a change of language is then posted with that form and keeps what was
   * typed.
   */
  readonly asks?: boolean
  /** The path of the view before this one, below the page's root. */
  readonly back?: string
  /** Whether the view needs room for cards side by side. */
  readonly wide?: boolean
  /** Which variant of the view this is; the language form posts it where the service could not tell otherwise. */
  readonly kind?: string
  /** What the page's script reports to the embed: data attributes of `main`. */
  readonly signals?: Readonly<Record<string, string>>
}

/** A view as it is drawn; `view` is the name that the embed's `VIEW` event carries. */
export type View = { readonly view: ViewName; readonly page: Page; readonly content: Content }

/** The names of all views. */
export type ViewName =
  | 'OPEN'
  | 'FRAME'
  | 'LINK_ENDED'
  | 'PROBLEM'
  | 'CHALLENGE'
  | 'DETAILS_REVIEW'
  | 'DETAILS_EDIT'
  | 'PLAN'
  | 'NO_BENEFITS'
  | 'BENEFITS'
  | 'CHECK_ANSWERS'
  | 'DONE'
  | 'ALREADY_ENROLLED'
  | 'SWAP'
  | 'SWAP_CONFIRM'
  | 'OFFER_CHANGE'
  | 'OFFER_CONFIRM'
  | 'BENEFICIARIES'
  | 'BENEFICIARIES_EDIT'
  | 'FAMILY_EDIT'
  | 'COVER'
  | 'COVER_CONFIRM'
  | 'CANCEL'

/** The whole document of a view, in its language. Never refuses: every text of the view is escaped. */
export function document({ view, page, content }: View): string {
  const say = sayIn(page)

  const { displayname } = page.partner
  const title = displayname ? say`${content.title} – ${displayname}` : content.title
  return html`<!doctype html>
<html lang="${page.locale}" data-shell="${page.shell}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="format-detection" content="telephone=no">
<title>${content.faulty ? say`Error: ` : page.replaced && say`Changed: `}${title}</title>
${page.stylesheets.map(address => html`<link rel="stylesheet" href="${address}">`)}
${page.shell === 'hosted' && html`<link rel="icon" href="${page.icon}" type="image/svg+xml">`}
<script src="${page.script}" type="module"></script>
</head>
<body>
${shell(view, page, content)}
</body>
</html>
`.markup
}

function shell(view: string, page: Page, content: Content): Html {
  const say = sayIn(page)
  return html`<div id="page">
<a class="skip" href="#main">${say`Skip to main content`}</a>
${content.asks && html`<button class="default" form="answers" tabindex="-1" aria-hidden="true"></button>`}
${header(view, page, content)}
<main id="main" class="${content.wide ? 'wide' : 'narrow'}" data-view="${view}"${attributes(page, content)}>
${content.back && html`<a class="back" href="${page.root}/${content.back}">${icon('back')}${say`Back`}</a>`}
${page.step && progress(page.step, say)}
${page.replaced && changedNotice(page.replaced, say)}
${page.isresumed && html`<p class="notice good" role="status">${icon('check')}<span>${say`We kept your answers from last time.`}</span></p>`}
${page.byoperator && html`<p class="hint">${say`By a link that our support made`}</p>`}
${content.body}
</main>
${footer(page)}
${scriptTexts(say)}
</div>
<p id="live" class="unseen" role="status" aria-live="polite"></p>`
}

/** The language button posts the answers too, if there are any, so that none is lost. */
function header(view: string, page: Page, content: Content): Html {
  const say = sayIn(page)

  const others = [...languages].filter(([code]) => code !== page.locale && page.languages.includes(code))
  const button = others.map(
    ([code, { name, see }]) =>
      html`<button class="quiet language" name="language" value="${code}" lang="${code}" formnovalidate${
        content.asks ? html` form="answers"` : ''
      } aria-label="${name}: ${see}">${icon('globe')}<span>${name}</span></button>`,
  )
  return html`<header>
<div class="bar">
<p class="partner"><span class="mark" aria-hidden="true">${initialOf(page) ?? icon('shield')}</span><span>${
    page.partner.displayname || say`Your benefits`
  }</span></p>
${
  content.asks
    ? button
    : html`<form method="post" action="${page.root}/language"
data-language><input type="hidden" name="view" value="${view}">${
        content.kind !== undefined && html`<input type="hidden" name="kind" value="${content.kind}">`
      }${button}</form>`
}
${
  page.shell === 'hosted' &&
  page.idleseconds !== undefined &&
  html`<form method="post" action="${page.root}/leave"><button class="quiet">${say`Sign out`}</button></form>`
}
</div>
</header>`
}

function initialOf({ partner }: Page): string | undefined {
  return /[\p{L}\p{N}]/u.exec(partner.displayname)?.[0].toUpperCase()
}

function progress(step: { readonly at: number; readonly of: number }, say: Say): Html {
  const steps = Array.from({ length: step.of }, (_, at) => at < step.at)
  return html`<div class="progress"><p>${say`Step ${step.at} of ${step.of}`}</p>
<div class="track" aria-hidden="true">${steps.map(
    done => html`<span${done ? html` class="reached"` : ''}></span>`,
  )}</div></div>`
}

function footer(page: Page): Html {
  const say = sayIn(page)

  const { phone, email, url } = page.help
  const ways = [
    phone && html`<a href="tel:${phone.replace(/[^+\d]/g, '')}">${say`Call ${phone}`}</a>`,
    email && html`<a href="mailto:${email}">${say`Email ${email}`}</a>`,
    url && html`<a href="${url}" target="_blank" rel="noopener noreferrer">${say`Help center`}</a>`,
  ].filter(way => way)
  return html`<footer>
<div class="bar"><section class="help" aria-labelledby="help"><h2 id="help">${say`Need help?`}</h2>
${
  ways.length > 0
    ? html`<ul>${ways.map(way => html`<li>${way}</li>`)}</ul>`
    : html`<p>${
        page.partner.displayname
          ? say`Contact ${page.partner.displayname} through its app or website.`
          : say`Contact the company that sent you here, through its app or website.`
      }</p>`
}</section>
<p class="privacy">${icon('lock')}${say`We use your details to set up and manage your benefits.`}</p>
${legalFacts(page)}</div>
</footer>`
}

function attributes(page: Page, content: Content): readonly Html[] {
  const { idleseconds } = page
  const signals = {
    ...(idleseconds === undefined ? {} : { idle: String(idleseconds) }),
    ...(page.replaced ? { error: 'CONFLICT' } : {}),
    ...content.signals,
  }
  const root = html` data-root="${page.root}"`
  return [root, ...Object.entries(signals).map(([name, value]) => html` data-${name}="${value}"`)]
}

/** Words that the script needs when there is no network. */
function scriptTexts(say: Say): Html {
  return html`<template id="texts" data-sending="${say`Sending…`}"><section class="notice alert" id="offline"
role="alert" tabindex="-1">${icon('alert')}<div><h2>${say`You seem to be offline`}</h2><p>${say`Nothing is lost. Check your connection, then try again.`}</p><p>
<button type="button" class="secondary" data-retry>${say`Try again`}</button></p></div></section><dialog id="timeout"
aria-labelledby="timeout-title"><h2
id="timeout-title">${say`Are you still there?`}</h2><p>${say`To keep your information safe, this page closes when the time is up.`}</p><p>${say`Time left:`} <strong data-left role="timer"
aria-live="off">2:00</strong></p><p class="unseen" role="status" data-minute="${say`One minute left.`}"
data-soon="${say`15 seconds left.`}"></p><button type="button"
class="primary" data-stay autofocus>${say`Stay on this page`}</button></dialog></template>`
}

/** Says that the form was not taken, and what had been typed into it; it gets the focus, so that it is heard. */
function changedNotice(replaced: readonly string[], say: Say): Html {
  return html`<section class="notice info" role="alert"
tabindex="-1" data-focus>${icon('info')}<div><h2>${say`Please check this page once more`}</h2><p>${say`Something has changed meanwhile, so nothing was done, and this page shows how it stands now.`}</p>
${
  replaced.length > 0 &&
  html`<p>${say`What you had entered:`}</p><ul class="plain">${replaced.map(text => html`<li>${text}</li>`)}</ul>`
}</div></section>`
}

/** Says, above what was saved, that it is. */
export function savedNotice(page: Page, isSaved: boolean | undefined): Slot {
  const say = sayIn(page)
  return isSaved && html`<p class="notice good" role="status">${icon('check')}<span>${say`Saved.`}</span></p>`
}

/** A box with a sign, a heading and an important sentence. */
export function notice(heading: string, text: Slot, kind: 'info' | 'alert' | 'good' = 'info'): Html {
  const sign = kind === 'alert' ? 'alert' : kind === 'good' ? 'check' : 'info'
  return html`<section class="notice ${kind}">${icon(sign)}<div><h2>${heading}</h2><p>${text}</p></div></section>`
}

/**
 * The links to the partner's privacy notice and terms, and the line that names the operator; empty when there are none.
 */
function legalFacts(page: Page): Slot {
  const { privacyurl, termsurl, operatorline } = page.legal ?? {}
  const say = sayIn(page)

  const link = (address: string, text: string) =>
    html`<li><a href="${address}" target="_blank" rel="noopener noreferrer">${text}</a></li>`
  if (!privacyurl && !termsurl && !operatorline) return null
  return html`${
    (privacyurl || termsurl) &&
    html`<ul class="legal">${
      privacyurl && link(privacyurl, say`Privacy notice`)
    }${termsurl && link(termsurl, say`Terms`)}</ul>`
  }${operatorline && html`<p class="hint">${passageIn(operatorline, page.locale)}</p>`}`
}
