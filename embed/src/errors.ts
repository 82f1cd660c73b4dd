import type { ErrorCode } from './events.ts'

/** The message for the person at the screen, in the language of the embed. */
export function messageOf(code: ErrorCode, locale: string | undefined): string {
  const spanish = (locale ?? document.documentElement.lang).startsWith('es')
  const [english, other] = code === 'CONFLICT' ? conflict : code === 'LINK_TOKEN_ENDED' ? ended : failed
  return spanish ? other : english
}

/** The message for the developer. */
export const developerMessages: Readonly<Record<ErrorCode, string>> = {
  LINK_TOKEN_ENDED:
    'The link token was used, has expired or is unknown. Give a function as token to renew it.',
  TOKEN_FETCH_FAILED: 'Your token function threw, or gave no string.',
  ORIGIN_NOT_ALLOWED:
    "The frame loaded but did not answer. Most likely this page's exact origin is not registered for the partner, or not named in the link token, or your Content-Security-Policy has no frame-src for the service.",
  LOAD_TIMEOUT: 'The service did not answer in time. Check the service address and the network.',
  VERSION_MISMATCH: 'The service speaks another version of the embed. Take the script that it serves.',
  CONFLICT: 'Answers, prices or dates changed while the page was open. It shows the newest.',
  INTERNAL: 'The service failed. The page shows a request id.',
}

const failed = [
  'Your benefits cannot be shown right now. Nothing is lost. Please try again.',
  'Sus beneficios no se pueden mostrar ahora. No se perdió nada. Inténtelo de nuevo.',
] as const
const ended = [
  'This link does not work anymore. Please open your benefits again.',
  'Este enlace ya no funciona. Abra sus beneficios otra vez.',
] as const
const conflict = [
  'Something has changed meanwhile. The page shows how it stands now.',
  'Algo cambió mientras tanto. La página muestra cómo queda ahora.',
] as const
