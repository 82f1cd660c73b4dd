import type { Locale } from '@benefit-enrolment/contract'
import { html } from '../../http/html.ts'
import { localeOf } from '../../http/locale.ts'
import type { Partner } from '../../partners/partner.ts'
import type { Exchange } from '../session/page-context.ts'
import { type OwnSession, wayBack } from '../session/session.ts'
import { pageFor } from '../session/visit.ts'
import { emblem } from '../views/icons.ts'
import type { Content } from '../views/layout.ts'
import { leave } from '../views/lists.ts'
import { inBoth, type Page, type ViewOf } from '../views/surroundings.ts'

/** How a link or a session may have ended. */
export const endedKinds = ['link', 'session', 'closed', 'challenge', 'challengelimit', 'signedout'] as const

/**
 * The link or the session has ended; the words are the same for a used, expired or unknown link. `session`: inactive
 * for too long; `closed`: revoked, or never open in this browser; `challenge`: too many wrong birth dates for this
 * link; `challengelimit`: too many for all links of the person, so that a new one does not help; `signedout`: the
 * person asked for it.
 */
export type LinkEndedView = ViewOf<'LINK_ENDED'> & {
  readonly kind: (typeof endedKinds)[number]
  readonly redirecturl?: string | undefined
}

/**
 * The page of a link or session that has ended or never existed; for links the words are always the same. Its language is
 * the given one, else that of the session, else the browser's.
 */
export async function endedView(
  exchange: Exchange,
  ended: Pick<LinkEndedView, 'kind'> & {
    readonly shell: Page['shell']
    readonly own?: OwnSession | undefined
    readonly locale?: Locale | undefined
    /** Of a link that has no session any more, or never had one. */
    readonly partner?: Partner | undefined
  },
): Promise<LinkEndedView> {
  const { shell, kind, own } = ended
  const { headers } = exchange.reply.request
  const locale = ended.locale ?? own?.session.locale ?? localeOf(headers['accept-language'])
  const page = pageFor(exchange.context, await exchange.files(), {
    shell,
    locale,
    partner: own?.partner ?? ended.partner,
  })
  return { view: 'LINK_ENDED', page, kind, redirecturl: own && wayBack(own) }
}

/** The words of each end of a link or a session. */
export const endedWords = inBoth({
  en: {
    link: {
      title: 'This link does not work anymore',
      text: 'For your safety, a link works once and only for a short time.',
    },
    session: {
      title: 'You were away for a while',
      text: 'To keep your information safe, we closed this page.',
    },
    closed: {
      title: 'This page is closed',
      text: 'To see your benefits, you need a link made for you that has not expired.',
    },
    challenge: {
      title: 'We could not confirm that it is you',
      text: 'The date of birth did not match our records too many times. To keep your information safe, we closed this link.',
    },
    signedout: {
      title: 'You are signed out',
      text: 'Your information is no longer open on this page.',
    },
    kept: 'Answers you already saved are kept.',
    resume: 'Continue where you left off',
    what: 'What to do now',
    again: (partner: string) => `Go back to ${partner} and open your benefits again.`,
    sent: (partner: string) =>
      `If your link came by text message or email, ask ${partner} to send you a new one.`,
    againunknown: 'Go back to where you got the link and open your benefits again.',
    sentunknown: 'If your link came by text message or email, ask the company that sent it for a new one.',
    cookies:
      'If you see this right after you opened your link, your browser blocks cookies. Allow them for this site, or use another browser, and open your benefits again.',
    challengenew: (partner: string) =>
      `Open your benefits in ${partner}’s app or on its website, or ask ${partner} to send you a new link.`,
    challengelimit: (partner: string) =>
      `Links sent by text message or email will not open for up to 30 days. Use ${partner}’s app or website.`,
    challengewrong: (partner: string) =>
      `If you are sure of your date of birth, tell ${partner}: what it sent us may be wrong.`,
  },
  es: {
    link: {
      title: 'Este enlace ya no funciona',
      text: 'Por su seguridad, un enlace funciona una sola vez y por poco tiempo.',
    },
    session: {
      title: 'Pasó un rato sin actividad',
      text: 'Para proteger su información, cerramos esta página.',
    },
    closed: {
      title: 'Esta página está cerrada',
      text: 'Sus beneficios se abren solo con un enlace hecho para usted, y solo mientras este sea válido.',
    },
    challenge: {
      title: 'No pudimos confirmar que es usted',
      text: 'La fecha de nacimiento no coincidió con nuestros registros en demasiados intentos. Para proteger su información, cerramos este enlace.',
    },
    signedout: {
      title: 'Cerró su sesión',
      text: 'Su información ya no está abierta en esta página.',
    },
    kept: 'Las respuestas que ya guardó se conservan.',
    resume: 'Continuar donde se quedó',
    what: 'Qué hacer ahora',
    again: partner => `Vuelva a ${partner} y abra sus beneficios otra vez.`,
    sent: partner =>
      `Si su enlace llegó por mensaje de texto o correo, pida a ${partner} que le envíe uno nuevo.`,
    againunknown: 'Vuelva a donde recibió el enlace y abra sus beneficios otra vez.',
    sentunknown:
      'Si su enlace llegó por mensaje de texto o correo, pida uno nuevo a la empresa que se lo envió.',
    cookies:
      'Si ve esto justo después de abrir su enlace, su navegador bloquea las cookies. Permítalas para este sitio, o use otro navegador, y abra sus beneficios otra vez.',
    challengenew: partner =>
      `Abra sus beneficios en la aplicación o el sitio web de ${partner}, o pida a ${partner} que le envíe un enlace nuevo.`,
    challengelimit: partner =>
      `Los enlaces por mensaje de texto o correo no se abrirán durante un máximo de 30 días. Use la aplicación o el sitio web de ${partner}.`,
    challengewrong: partner =>
      `Si está seguro de su fecha de nacimiento, avise a ${partner}: el dato que nos envió puede estar mal.`,
  },
})

/** The link or session has ended: a link's words are the same whether it was used, expired or unknown. */
export function drawEnded(view: LinkEndedView): Content {
  const { page, kind } = view
  const words = endedWords[page.locale]
  const isChallenge = kind === 'challenge' || kind === 'challengelimit'
  const { title, text } = words[isChallenge ? 'challenge' : kind]
  const partner = page.partner.displayname
  // Without a cookie nothing tells a browser that blocks them from one that never opened a link.
  const isUnknown = kind === 'closed' && page.shell === 'hosted' && partner === ''
  const isRenewable = page.shell === 'frame' && kind !== 'link'
  return {
    title,
    kind,
    signals: { ended: kind === 'link' ? 'link' : 'session' },
    body: html`${emblem(isChallenge ? 'alert' : kind === 'signedout' ? 'check' : 'clock')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${text}</p>
${!isChallenge && kind !== 'closed' && html`<p>${words.kept}</p>`}
<section class="panel"><h2>${words.what}</h2>${
      isChallenge
        ? html`<p>${
            kind === 'challenge' ? words.challengenew(partner) : words.challengelimit(partner)
          }</p><p>${words.challengewrong(partner)}</p>`
        : html`<p>${partner ? words.again(partner) : words.againunknown}</p><p>${
            partner ? words.sent(partner) : words.sentunknown
          }</p>${isUnknown && html`<p>${words.cookies}</p>`}`
    }</section>
${leave(page, {
  redirecturl: view.redirecturl,
  more: isRenewable && html`<button type="button" class="secondary" data-renew>${words.resume}</button>`,
})}`,
  }
}
