import { html } from '../../http/html.ts'
import { primary } from '../views/fields.ts'
import { emblem, icon } from '../views/icons.ts'
import type { View } from '../views/layout.ts'
import { type Say, sayIn } from '../views/say.ts'
import type { Page } from '../views/surroundings.ts'

/**
 * The page behind a link: one button, whose POST to `action` uses up the token; the purpose of the link decides the words. Its
 * form posts without the script to an address of its own, because the answer is a redirect.
 */
export function openView(
  page: Page,
  { action, purpose }: { readonly action: string; readonly purpose: keyof typeof purposes },
): View {
  const say = sayIn(page)
  const partner = page.partner.displayname
  const [title, lead, text] = purposes[purpose](say, partner)
  const content = {
    title,
    body: html`${emblem('shield')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${lead}</p>
<p>${text}</p>
<form id="answers" method="post" action="${action}" data-plain><input type="hidden"
name="locale" value="${page.locale}">${primary(say`Open my benefits`, icon('arrow'))}</form>
<p class="hint">${say`This link works once. Later, open your benefits from ${partner} again or ask for a new link.`}</p>`,
    asks: true,
  }
  return { view: 'OPEN', page, content }
}

type Purpose = (say: Say, partner: string) => readonly [title: string, lead: string, text: string]

/** What is said before the button, by what the link is for. */
const purposes = {
  registration: (say, partner) => [
    say`Set up your benefits`,
    say`${partner} invites you to see the benefits you can get and to enroll.`,
    say`It takes about five minutes. You can stop at any time; we keep your answers.`,
  ],
  benefits: (say, partner) => [
    say`See your benefits`,
    say`Here is what you have through ${partner}, and what else you can get.`,
    say`Looking changes nothing.`,
  ],
  swap: (say, partner) => [
    say`Swap a benefit`,
    say`Exchange a benefit you have through ${partner} for another one. It takes about two minutes.`,
    say`Nothing changes before you confirm it.`,
  ],
  offerchange: (say, partner) => [
    say`Change your plan`,
    say`See the plans you can have through ${partner}, and choose another one. It takes about two minutes.`,
    say`Nothing changes before you confirm it.`,
  ],
} as const satisfies Readonly<Record<string, Purpose>>
