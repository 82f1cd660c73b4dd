import { html } from '../../http/html.ts'
import { coverageSection, totalSection } from './coverage.ts'
import { birthDate, draftField, form, primary, question } from './fields.ts'
import { emblem, icon } from './icons.ts'
import { type Content, notice } from './layout.ts'
import { benefitList } from './lists.ts'
import type { ChallengeView, FrameView, OpenView, StartView } from './model.ts'
import { textsOf } from './texts.ts'

/**
 * The page behind a link. Its form posts without the script to an address of its own, because the answer is a redirect.
 */
export function open(view: OpenView): Content {
  const words = textsOf(view.page).open
  const { title, lead, text } = words.purpose[view.purpose]
  return {
    title,
    body: html`${emblem('shield')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${lead(view.page.partner.displayname)}</p>
<p>${text}</p>
<form id="answers" method="post" action="${view.action}" data-plain><input type="hidden" name="locale" value="${view.page.locale}">${primary(words.button, icon('arrow'))}</form>
<p class="hint">${words.once(view.page.partner.displayname)}</p>`,
    asks: true,
  }
}

/** Asks the birth date of a person whose link came by text message or email. */
export function challenge(view: ChallengeView): Content {
  const texts = textsOf(view.page)
  const words = texts.challenge
  return question(view, {
    title: words.title,
    body: html`<p class="lead">${view.again ? texts.beneficiaries.again : [view.firstname && `${words.lead(view.firstname)} `, words.text]}</p>
<form id="answers" method="post" action="${view.action}" novalidate>
${view.next !== undefined && html`<input type="hidden" name="next" value="${view.next}">`}
${birthDate(view, { asHeading: false })}
<p class="hint">${words.attempts(view.attemptsleft)}</p>
${primary(texts.shell.continue)}
</form>`,
  })
}

/** The first view of the journey. */
export function start(view: StartView): Content {
  const { page, shared, known = [], firstname, resumed } = view
  const texts = textsOf(page)
  const groups = known.length > 0 ? known : shared
  const isOwn = groups.length === 0 && resumed && view.hassaved
  const words = texts.start
  const partner = page.partner.displayname
  return {
    title: words.title,
    body: html`<h1 tabindex="-1">${firstname ? words.hello(firstname) : words.title}</h1>
<p class="lead">${words.lead(partner)}</p>
${resumed && notice(words.resumed, words.resumedtext, 'good')}
${
  view.comeback &&
  html`<section class="panel"><h2>${words.comeback}</h2><p>${words.comebacktext(view.comeback.offername)}</p>
${benefitList(page, view.comeback.benefits)}
${coverageSection(page, view.comeback.benefits)}
${totalSection(page, view.comeback.benefits)}
${view.comeback.agreed && html`<p>${texts.standing.agreedbefore}</p>`}
${view.comeback.named && html`<p>${texts.standing.namedbefore}</p>`}
<form method="post" action="${page.root}/comeback">${draftField(page)}<p><button class="secondary">${words.comebackbutton}</button></p></form></section>`
}
<section class="panel"><h2>${words.steps}</h2>
<ol class="steps"><li>${texts.already.details}</li>${view.choosesplan && html`<li>${view.choosesplan === 'perhaps' ? words.stepperhaps : words.stepplan}</li>`}<li>${view.choosesbenefits === false ? words.step2none : words.step2}</li><li>${words.step3}</li></ol>
<p class="hint withsign">${icon('clock')}${words.time}</p></section>
<section><h2>${known.length > 0 || isOwn ? words.known : words.shared(partner)}</h2>
${
  groups.length > 0
    ? html`<ul class="ticks">${groups.map(group => html`<li>${icon('check')}${texts.group[group]}</li>`)}</ul><p>${words.sharedtext}</p>`
    : html`<p>${isOwn ? words.hassaved : words.sharednone(partner)}</p>`
}</section>
${form(view, 'start', primary(resumed ? words.resume : words.button, icon('arrow')))}`,
    asks: true,
  }
}

/** The empty frame, as shown until the host has answered. */
export function frame(view: FrameView): Content {
  const texts = textsOf(view.page)
  return {
    title: texts.start.title,
    body: html`<h1 class="unseen" tabindex="-1">${texts.shell.loading}</h1>
<div class="waiting" aria-hidden="true"><span></span><span></span><span></span></div>
<noscript><p>${texts.shell.noscript}</p></noscript>`,
    signals: { origins: view.origins.join(' '), session: view.sessionurl },
  }
}
