import { html } from '../../http/html.ts'
import { primary } from '../views/fields.ts'
import { emblem, icon } from '../views/icons.ts'
import type { Content } from '../views/layout.ts'
import { inBoth, type ViewOf } from '../views/surroundings.ts'
import { textsOf } from '../views/texts.ts'

/** The page behind a link: one button, whose POST to `action` uses up the token. */
export type OpenView = ViewOf<'OPEN'> & {
  readonly action: string
  /** The purpose of the link, which decides the words. */
  readonly purpose: 'registration' | 'benefits' | 'swap' | 'offerchange'
}

/** The words of the page behind a link. */
export const openWords = inBoth({
  en: {
    purpose: {
      registration: {
        title: 'Set up your benefits',
        lead: (partner: string) => `${partner} invites you to see the benefits you can get and to enroll.`,
        text: 'It takes about five minutes. You can stop at any time; we keep your answers.',
      },
      benefits: {
        title: 'See your benefits',
        lead: (partner: string) => `Here is what you have through ${partner}, and what else you can get.`,
        text: 'Looking changes nothing.',
      },
      swap: {
        title: 'Swap a benefit',
        lead: (partner: string) =>
          `Exchange a benefit you have through ${partner} for another one. It takes about two minutes.`,
        text: 'Nothing changes before you confirm it.',
      },
      offerchange: {
        title: 'Change your plan',
        lead: (partner: string) =>
          `See the plans you can have through ${partner}, and choose another one. It takes about two minutes.`,
        text: 'Nothing changes before you confirm it.',
      },
    },
    once: (partner: string) =>
      `This link works once. Later, open your benefits from ${partner} again or ask for a new link.`,
  },
  es: {
    purpose: {
      registration: {
        title: 'Active sus beneficios',
        lead: partner => `${partner} le invita a ver los beneficios que puede recibir y a inscribirse.`,
        text: 'Toma unos cinco minutos. Puede parar en cualquier momento; guardamos sus respuestas.',
      },
      benefits: {
        title: 'Vea sus beneficios',
        lead: partner => `Aquí está lo que tiene a través de ${partner} y lo que además puede recibir.`,
        text: 'Mirar no cambia nada.',
      },
      swap: {
        title: 'Intercambie un beneficio',
        lead: partner =>
          `Intercambie un beneficio que tiene a través de ${partner} por otro. Toma unos dos minutos.`,
        text: 'Nada cambia antes de que usted lo confirme.',
      },
      offerchange: {
        title: 'Cambie su plan',
        lead: partner =>
          `Vea los planes que puede tener a través de ${partner} y elija otro. Toma unos dos minutos.`,
        text: 'Nada cambia antes de que usted lo confirme.',
      },
    },
    once: partner =>
      `Este enlace funciona una sola vez. Más tarde, abra sus beneficios otra vez desde ${partner} o pida un enlace nuevo.`,
  },
})

/**
 * The page behind a link. Its form posts without the script to an address of its own, because the answer is a redirect.
 */
export function drawOpen(view: OpenView): Content {
  const words = openWords[view.page.locale]
  const { title, lead, text } = words.purpose[view.purpose]
  return {
    title,
    body: html`${emblem('shield')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${lead(view.page.partner.displayname)}</p>
<p>${text}</p>
<form id="answers" method="post" action="${view.action}" data-plain><input type="hidden"
name="locale" value="${view.page.locale}">${primary(textsOf(view.page).shell.open, icon('arrow'))}</form>
<p class="hint">${words.once(view.page.partner.displayname)}</p>`,
    asks: true,
  }
}
