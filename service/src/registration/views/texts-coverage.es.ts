import type { coverageEn } from './texts-coverage.en.ts'

/** The Spanish words about coverage, price, documents and the copy. */
export const coverageEs: typeof coverageEn = {
  price: {
    free: 'Gratis',
    week: amount => `${amount} por semana`,
    month: amount => `${amount} al mes`,
    once: amount => `${amount} una sola vez`,
    youpay: price => `Usted paga ${price}`,
    taken: (price, how, by) => `Usted paga ${price}; ${by} lo cobra ${how}`,
    takenplain: (how, by) => `${by} lo cobra ${how}`,
    and: (one, other) => `${one} y ${other}`,
    total: 'Su total',
    totalsofar: 'Su total hasta ahora',
    totalnext: 'Su total está en la página siguiente.',
    added: 'Lo que agrega cuesta',
    addedsofar: 'Lo que agrega cuesta hasta ahora',
    addednext: 'La página siguiente dice cuánto cuesta lo que agrega.',
    afterplanned: 'Esto es lo que paga cuando se hayan hecho los cambios que tiene previstos.',
    incoming: count =>
      count === 1 ? 'Lo que cuesta el beneficio nuevo' : 'Lo que cuestan los beneficios nuevos',
    nolonger: (on, price, name) => `Desde el ${on} ya no paga ${price} por “${name}”.`,
  },
  insurer: 'Aseguradora',
  waiting: 'Período de espera',
  days: days => (days === 1 ? '1 día' : `${days} días`),
  documents: 'Documentos',
  pdf: '(PDF)',
  pdfin: { en: '(PDF, en inglés)', es: '(PDF, en español)' },
  know: 'Lo que debe saber',
  privacynotice: 'Aviso de privacidad',
  terms: 'Términos',
  plan: {
    holds: 'Qué incluye',
    choose: slots => (slots === 1 ? 'Elija 1 más de estos' : `Elija hasta ${slots} más de estos`),
  },
  copy: {
    link: 'Guardar una copia de lo que aceptó',
    list: 'Sus copias',
    of: (on, reference) => `Copia del ${on} (${reference})`,
    title: 'Sus beneficios: lo que aceptó',
    reference: 'Referencia',
    made: 'Aceptado el',
    starts: 'La cobertura empieza',
    waits: 'Cuando ya no falte nada de su parte',
    waitsuntil: by =>
      `Cuando ya no falte nada de su parte. Si no es así antes del ${by}, el beneficio no empieza.`,
    ends: 'La cobertura termina el',
    agreed: 'Lo que aceptó',
    help: 'Ayuda',
    helpnone: partner => `Comuníquese con ${partner} por su aplicación o sitio web.`,
  },
}
