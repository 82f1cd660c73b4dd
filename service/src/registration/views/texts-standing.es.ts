import type { standingEn } from './texts-standing.en.ts'

/** Spanish words about a member's situation. */
export const standingEs: typeof standingEn = {
  leaving: {
    title: on => `Sus beneficios terminan el ${on}`,
    swap: 'Solo puede intercambiar un beneficio si decide conservarlos.',
    offer: 'Solo puede cambiar de plan si decide conservarlos.',
    all: 'Todavía puede conservarlos.',
    keep: 'Conservar mis beneficios',
    now: {
      title: 'Terminar sus beneficios ahora',
      lead: on => `Si no quiere esperar hasta el ${on}, puede terminar todos estos ahora mismo:`,
      button: 'Terminar mis beneficios ahora',
    },
  },
  nothing: plan => `Su plan es ${plan}. En este momento no tiene beneficios.`,
  planned: {
    plan: (name, on) => `Pasa a ${name} el ${on}.`,
    swap: on => `Hay un intercambio previsto para el ${on}.`,
    noswap: on => `Tal como están las cosas, el intercambio previsto para el ${on} no se hará.`,
    partly: 'Lo que ahora no puede recibir no empezará, y lo que iba a reemplazar queda como está.',
    see: 'Ver qué cambia',
  },
  lost: {
    mayend: 'Un beneficio que no corresponda a sus datos nuevos terminará.',
    saved: 'Sus datos están guardados.',
    ends: (name, on) => `Por este cambio, “${name}” termina el ${on}.`,
    ended: (name, on) => `Por este cambio, “${name}” terminó el ${on}.`,
    neverstarts: name => `Por este cambio, “${name}” no empezará.`,
  },
  waiting: {
    title: 'A estos todavía les falta algo de su parte',
    goon: name => `Seguir con “${name}”`,
  },
  notbegun: names => `Estos no han empezado y no van a empezar: ${names}.`,
  backbeforestart: days =>
    `Si cambia de opinión, puede recuperarlos dentro de los ${days} días después de cancelar, si todavía cumple los requisitos.`,
  noreturn:
    'Una vez que terminen, no podrá recuperarlos: por ahora, su plan ya no está disponible para usted.',
  newer: (partner, details, link) =>
    `${partner} envió datos más recientes de: ${details}. Puede usarlos en “${link}”, más abajo.`,
  agreedbefore: 'Lo que aceptó antes vuelve a valer.',
  namedbefore: 'Los beneficiarios que nombró antes vuelven a contar.',
  dropsswap: 'El intercambio que tenía previsto no se hará.',
  ineligible: {
    title: plan => `Sus datos ya no cumplen las reglas de ${plan}`,
    keeps:
      'Esto por sí solo no termina su plan ni los beneficios de esta lista. Un beneficio que indica una fecha de fin termina ese día.',
    back: plan => `Si deja ${plan}, es posible que no pueda volver a tenerlo.`,
    correct: link => `Si alguno de sus datos es incorrecto, corríjalo en “${link}”, más abajo.`,
    ask: partner => `Si tiene preguntas, consulte a ${partner}.`,
  },
}
