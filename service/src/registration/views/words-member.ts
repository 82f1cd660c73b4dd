import { inBoth } from './surroundings.ts'

/** The words about what a member has named, planned and still has to do. */
export const memberWords = inBoth({
  en: {
    beneficiaries: {
      title: 'Your beneficiaries',
      lead: 'A beneficiary receives what a benefit pays after your death. You can change your choice at any time.',
      nobody: 'You have not named anyone yet.',
      earlier: 'The people you named before stay in place.',
      named: 'You have named your beneficiaries.',
      add: 'Name someone',
      needed: 'This benefit does not start before you have named someone.',
      waitsuntil: (by: string) =>
        `Starts when you have named someone. If you have not before ${by}, you will not get this benefit.`,
      waitsfrom: (on: string, by: string) =>
        `Starts on ${on}, or when you have named someone, if that is later. If you have not before ${by}, you will not get this benefit.`,
      waitsonly: (on: string) =>
        `Starts on ${on}, if you have named someone before that day. If not, you will not get this benefit.`,
      optional: 'You can also do this later.',
      share: (share: number) => `${share}%`,
      contingentlist: 'Backups, if nobody above can receive it',
      relationship: {
        spouse: 'Spouse',
        partner: 'Partner',
        child: 'Child',
        parent: 'Parent',
        sibling: 'Brother or sister',
        relative: 'Another relative',
        friend: 'Friend',
        trust: 'Trust',
        estate: 'My estate',
        other: 'Someone else',
      },
      missing: (benefits: string) => `Name your beneficiaries for ${benefits}.`,
      before: (name: string, by: string) => `${name} (before ${by})`,
      agree: (benefits: string) => `Agree to the terms of ${benefits}.`,
      copy: 'Beneficiaries',
    },
    standing: {
      /** For a member whose benefits are about to end. */
      leaving: {
        title: (on: string) => `Your benefits end on ${on}`,
        swap: 'You can swap a benefit only if you keep them.',
        offer: 'You can change your plan only if you keep them.',
        all: 'You can still keep them.',
        keep: 'Keep my benefits',
        /** For a member who need not wait for that day. */
        now: {
          title: 'End your benefits now',
          lead: (on: string) => `If you do not want to wait until ${on}, you can end all of these right now:`,
          button: 'End my benefits now',
        },
      },
      /** For a member who holds nothing. */
      nothing: (plan: string) => `Your plan is ${plan}. You have no benefits right now.`,
      /** On a member's first view. */
      pending: {
        /** For what their details, or today's catalogue, no longer allow. */
        noswap: (on: string) => `As things are now, the swap planned for ${on} will not happen.`,
        partly: 'What you cannot get now will not start, and what it was to replace stays as it is.',
        /** For a plan that is closed by now, or no longer admits the person. */
        noplan: (name: string, on: string) => `As things are now, you will not move to ${name} on ${on}`,
      },
      notbegun: (names: string) => `These have not started and will not: ${names}.`,
      noreturn:
        'Once they have ended, you cannot bring them back: as things stand, your plan is not open to you any more.',
      dropsswap: 'The swap that you had planned will not happen.',
    },
  },
  es: {
    beneficiaries: {
      title: 'Sus beneficiarios',
      lead: 'Un beneficiario recibe lo que un beneficio paga después de que usted fallezca. Puede cambiar su elección en cualquier momento.',
      nobody: 'Todavía no ha nombrado a nadie.',
      earlier: 'Se mantienen las personas que nombró antes.',
      named: 'Ya nombró a sus beneficiarios.',
      add: 'Nombrar a alguien',
      needed: 'Este beneficio no empieza hasta que usted nombre a alguien.',
      waitsuntil: by =>
        `Empieza cuando usted haya nombrado a alguien. Si no lo ha hecho antes del ${by}, no recibirá este beneficio.`,
      waitsfrom: (on, by) =>
        `Empieza el ${on}, o cuando usted haya nombrado a alguien, si es después. Si no lo ha hecho antes del ${by}, no recibirá este beneficio.`,
      waitsonly: on =>
        `Empieza el ${on}, si usted ha nombrado a alguien antes de ese día. Si no, no recibirá este beneficio.`,
      optional: 'También puede hacerlo más adelante.',
      share: share => `${share}%`,
      contingentlist: 'Suplentes, si nadie de arriba puede recibirlo',
      relationship: {
        spouse: 'Cónyuge',
        partner: 'Pareja',
        child: 'Hijo o hija',
        parent: 'Padre o madre',
        sibling: 'Hermano o hermana',
        relative: 'Otro familiar',
        friend: 'Amigo o amiga',
        trust: 'Fideicomiso',
        estate: 'Mi sucesión',
        other: 'Otra persona',
      },
      missing: benefits => `Nombre a sus beneficiarios de ${benefits}.`,
      before: (name, by) => `${name} (antes del ${by})`,
      agree: benefits => `Acepte los términos de ${benefits}.`,
      copy: 'Beneficiarios',
    },
    standing: {
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
      pending: {
        noswap: on => `Tal como están las cosas, el intercambio previsto para el ${on} no se hará.`,
        partly: 'Lo que ahora no puede recibir no empezará, y lo que iba a reemplazar queda como está.',
        noplan: (name, on) => `Tal como están las cosas, no pasará a ${name} el ${on}`,
      },
      notbegun: names => `Estos no han empezado y no van a empezar: ${names}.`,
      noreturn:
        'Una vez que terminen, no podrá recuperarlos: por ahora, su plan ya no está disponible para usted.',
      dropsswap: 'El intercambio que tenía previsto no se hará.',
    },
  },
})
