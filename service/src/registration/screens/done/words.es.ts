import type { doneEn } from './words.en.ts'

const nothingElse = 'No tiene que hacer nada más.'
const nothingUntilThen = 'No tiene que hacer nada hasta entonces.'
const swapsByItself = 'El intercambio se hace automáticamente ese día.'

/** Spanish words for what was done, by what and when. */
export const doneEs: typeof doneEn = {
  reference: phone => `Guarde su referencia. La necesitará si llama al ${phone}.`,
  referenceplain: 'Guarde su referencia con sus documentos.',
  nothing: [nothingElse, nothingUntilThen],
  idle: [nothingElse, nothingUntilThen, swapsByItself],
  stillneededask: partner => `Todavía falta algo de su parte. Pregunte a ${partner} qué es.`,
  enrolled: {
    now: () => ({
      title: 'Su inscripción está lista',
      lead: 'Cada beneficio indica cuándo empieza.',
      next: [nothingElse],
    }),
    from: on => ({
      title: `Su inscripción empieza el ${on}`,
      lead: `Sus beneficios empiezan el ${on}. Antes de ese día no hay cobertura.`,
      next: [nothingUntilThen],
    }),
  },
  added: {
    now: count => ({
      title: count === 1 ? 'Se agregó su beneficio nuevo' : 'Se agregaron sus beneficios nuevos',
      lead: 'Estos son todos sus beneficios.',
      next: [nothingElse],
    }),
    from: (count, on) => ({
      title:
        count === 1
          ? `Se agregó su beneficio nuevo, que empieza el ${on}`
          : `Se agregaron sus beneficios nuevos, que empiezan el ${on}`,
      lead: 'Antes de ese día no hay cobertura.',
      next: [nothingUntilThen],
    }),
  },
  upgraded: {
    now: plan => ({
      title: `Ya tiene el plan superior ${plan}`,
      lead: 'Su plan nuevo está vigente.',
      next: [nothingElse],
    }),
    from: (plan, on) => ({
      title: `Pasará al plan superior ${plan} el ${on}`,
      lead: 'Antes de ese día no cambia nada.',
      next: ['Su plan cambia automáticamente ese día.'],
    }),
  },
  downgraded: {
    now: plan => ({
      title: `Ya tiene el plan ${plan}`,
      lead: 'Su plan cambió. Estos son sus beneficios ahora.',
      next: [nothingElse],
    }),
    from: (plan, on) => ({
      title: `Pasará al plan ${plan} el ${on}`,
      lead: 'Hasta entonces conserva el plan y los beneficios que tiene ahora.',
      next: ['Su plan cambia automáticamente ese día. Lo que no viene con él termina el día indicado.'],
    }),
  },
  swapped: {
    now: () => ({
      title: 'Su intercambio ya está hecho',
      lead: 'Estos son sus beneficios ahora.',
      next: [nothingElse],
    }),
    from: on => ({
      title: `Su intercambio queda para el ${on}`,
      lead: 'Hasta entonces conserva los beneficios que tiene ahora.',
      next: [swapsByItself],
    }),
  },
  cancelled: {
    now: {
      today: on => ({
        title: 'Sus beneficios terminaron',
        lead: `Su cobertura terminó hoy, ${on}.`,
        next: [],
      }),
      past: on => ({
        title: 'Sus beneficios terminaron',
        lead: `Su último día de cobertura fue el ${on}.`,
        next: [],
      }),
      neverbegun: {
        title: 'Su inscripción está cancelada',
        lead: 'Sus beneficios no habían empezado y ya no van a empezar.',
        next: [],
      },
    },
    from: (on, later) => ({
      title: `Sus beneficios terminarán el ${on}`,
      lead: 'Tiene cobertura hasta el final de ese día.',
      next: [`¿Cambió de opinión? Hasta entonces puede conservar sus beneficios. ${later}`],
    }),
    later: 'Durante los 30 días siguientes todavía puede recuperarlos si cumple los requisitos.',
    dropped: 'El intercambio o cambio de plan que tenía previsto no se hará.',
    back: (partner, until) =>
      `Si cambia de opinión y todavía cumple los requisitos, puede recuperar sus beneficios. El último momento es el ${until}. Abra sus beneficios otra vez desde ${partner}.`,
  },
  undone: {
    swap: {
      now: () => ({
        title: 'Deshicimos su intercambio',
        lead: 'Conserva los beneficios que tiene ahora.',
        next: [nothingElse],
      }),
      from: (plan, on) => ({
        title: `Deshicimos su intercambio y ${plan} empieza el ${on}`,
        lead: 'Sus beneficios empiezan como estaba previsto antes.',
        next: [nothingUntilThen],
      }),
    },
    offer: {
      now: plan => ({
        title: `Se queda con ${plan}`,
        lead: 'Deshicimos el cambio de su plan.',
        next: [nothingElse],
      }),
      from: (plan, on) => ({
        title: `Empieza con ${plan} el ${on}`,
        lead: 'Deshicimos el cambio de su plan. Antes de ese día no hay cobertura.',
        next: [nothingUntilThen],
      }),
    },
  },
  staysdropped: 'El intercambio o cambio de plan que tenía previsto antes no se recupera.',
  kept: {
    title: 'Conserva sus beneficios',
    lead: 'Deshicimos la cancelación. Su cobertura sigue sin interrupción.',
    next: [nothingElse],
  },
  reinstated: {
    now: () => ({
      title: 'Recuperó sus beneficios',
      lead: 'Su plan está vigente otra vez. Mientras estuvo cancelado no hubo cobertura.',
      next: [nothingElse],
    }),
    from: on => ({
      title: `Recuperó sus beneficios, que empiezan el ${on}`,
      lead: 'Antes de ese día no hay cobertura.',
      next: [nothingUntilThen],
    }),
    missing: names => `Esto no se pudo recuperar: ${names}.`,
  },
}
