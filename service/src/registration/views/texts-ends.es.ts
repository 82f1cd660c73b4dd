import type { endsEn } from './texts-ends.en.ts'

/** Spanish words of the views where a visit ends or fails. */
export const endsEs: typeof endsEn = {
  ended: {
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
      `Durante un máximo de 30 días, los enlaces por mensaje de texto o correo no se abrirán. Abra sus beneficios en la aplicación o el sitio web de ${partner}.`,
    challengewrong: partner =>
      `Si está seguro de su fecha de nacimiento, avise a ${partner}: el dato que nos envió puede estar mal.`,
  },
  problem: {
    title: 'Algo falló de nuestro lado',
    text: 'Sus respuestas hasta la última página están guardadas. Vuelva a intentarlo en un momento.',
    notfoundtitle: 'Esta página no existe',
    notfoundtext: 'Sus respuestas están guardadas. Vuelva a sus beneficios para continuar.',
    busytitle: 'Estamos muy ocupados en este momento',
    busytext: 'Lo que guardó en páginas anteriores se conserva. Espere un momento y vuelva a intentarlo.',
    foreigntitle: 'No se cambió nada',
    foreigntext:
      'No lo aceptamos porque se envió desde otro sitio web, no desde su página de beneficios. Para continuar, abra sus beneficios desde aquí o con su propio enlace.',
    unreadabletitle: 'No pudimos leer lo que se envió',
    unreadabletext: 'No se cambió nada. Sus respuestas hasta la última página están guardadas.',
    request: 'Si pide ayuda, dé este número:',
  },
}
