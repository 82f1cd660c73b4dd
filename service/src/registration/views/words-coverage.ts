import { inBoth } from './surroundings.ts'

/** The words about coverage, price, documents and the copy. */
export const coverageWords = inBoth({
  en: {
    price: {
      free: 'Free',
      week: (amount: string) => `${amount} a week`,
      month: (amount: string) => `${amount} a month`,
      once: (amount: string) => `${amount} once`,
      youpay: (price: string) => `You pay ${price}`,
      taken: (price: string, how: string, by: string) => `You pay ${price}, taken ${how} by ${by}`,
      and: (one: string, other: string) => `${one} and ${other}`,
      total: 'Your total',
      /** For a member, whose other benefits are not in the sum. */
      added: 'What you add costs',
      withwaiting: 'This includes benefits that still wait for something from you and have not started.',
      afterplanned: 'This is what you pay once the changes that you have planned have taken effect.',
      /** For a swap, which takes a benefit away for the new one. */
      incoming: (count: number): string =>
        count === 1 ? 'What the new benefit costs' : 'What the new benefits cost',
      nolonger: (on: string, price: string, name: string) =>
        `From ${on} you no longer pay ${price} for ${name}.`,
    },
    insurer: 'Insurer',
    memberid: 'Member number',
    waiting: 'Waiting period',
    days: (days: number) => (days === 1 ? '1 day' : `${days} days`),
    documents: 'Documents',
    pdf: '(PDF)',
    pdfin: { en: '(PDF, in English)', es: '(PDF, in Spanish)' },
    know: 'What you should know',
    covers: (benefits: string) => `Insures: ${benefits}`,
    waitsfor: (benefit: string, days: string) => `${benefit}: waiting period of ${days}`,
    use: {
      heading: 'What you have, and how to use it',
      had: 'What you had, and how to use it',
      title: 'How to use it',
      ended: (on: string, until: string) =>
        `Coverage ended on ${on}. This is for what happened before, until ${until}.`,
    },
    privacynotice: 'Privacy notice',
    terms: 'Terms',
    copy: {
      link: 'Save a copy of what you agreed to',
      list: 'Your copies',
      of: (on: string, reference: string) => `Copy of ${on} (${reference})`,
      title: 'Your benefits: what you agreed to',
      reference: 'Reference',
      made: 'Agreed on',
      starts: 'Coverage starts',
      waits: 'When nothing more is needed from you',
      waitsuntil: (by: string) =>
        `When nothing more is needed from you. If that is not so before ${by}, the benefit does not start.`,
      ends: 'Coverage ends on',
      agreed: 'What you agreed to',
      help: 'Help',
      helpnone: (partner: string) => `Contact ${partner} through its app or website.`,
    },
  },
  es: {
    price: {
      free: 'Gratis',
      week: amount => `${amount} por semana`,
      month: amount => `${amount} al mes`,
      once: amount => `${amount} una sola vez`,
      youpay: price => `Usted paga ${price}`,
      taken: (price, how, by) => `Usted paga ${price}; ${by} lo cobra ${how}`,
      and: (one, other) => `${one} y ${other}`,
      total: 'Su total',
      added: 'Lo que agrega cuesta',
      withwaiting: 'Esto incluye beneficios que todavía esperan algo de usted y no han empezado.',
      afterplanned: 'Esto es lo que paga cuando se hayan hecho los cambios que tiene previstos.',
      incoming: count =>
        count === 1 ? 'Lo que cuesta el beneficio nuevo' : 'Lo que cuestan los beneficios nuevos',
      nolonger: (on, price, name) => `Desde el ${on} ya no paga ${price} por “${name}”.`,
    },
    insurer: 'Aseguradora',
    memberid: 'Número de miembro',
    waiting: 'Período de espera',
    days: days => (days === 1 ? '1 día' : `${days} días`),
    documents: 'Documentos',
    pdf: '(PDF)',
    pdfin: { en: '(PDF, en inglés)', es: '(PDF, en español)' },
    know: 'Lo que debe saber',
    covers: benefits => `Asegura: ${benefits}`,
    waitsfor: (benefit, days) => `${benefit}: período de espera de ${days}`,
    use: {
      heading: 'Lo que tiene y cómo usarlo',
      had: 'Lo que tenía y cómo usarlo',
      title: 'Cómo usarlo',
      ended: (on, until) =>
        `La cobertura terminó el ${on}. Esto es para lo ocurrido antes, hasta el ${until}.`,
    },
    privacynotice: 'Aviso de privacidad',
    terms: 'Términos',
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
  },
})
