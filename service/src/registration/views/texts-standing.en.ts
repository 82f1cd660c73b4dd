/** English words about a member's situation; every other language has the same keys. */
export const standingEn = {
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
  planned: {
    plan: (name: string, on: string) => `You move to ${name} on ${on}.`,
    swap: (on: string) => `A swap is planned for ${on}.`,
    /** For what their details, or today's catalogue, no longer allow. */
    noswap: (on: string) => `As things are now, the swap planned for ${on} will not happen.`,
    partly: 'What you cannot get now will not start, and what it was to replace stays as it is.',
    see: 'See what changes',
  },
  /** For a member who changes their details. */
  lost: {
    mayend: 'A benefit that does not fit your new details will end.',
    saved: 'Your details are saved.',
    ends: (name: string, on: string) => `Because of this change, ${name} ends on ${on}.`,
    ended: (name: string, on: string) => `Because of this change, ${name} ended on ${on}.`,
    neverstarts: (name: string) => `Because of this change, ${name} will not start.`,
  },
  /** For benefits that a member already has, and that wait for something from the member. */
  waiting: {
    title: 'These still need something from you',
    goon: (name: string) => `Go on with ${name}`,
  },
  notbegun: (names: string) => `These have not started and will not: ${names}.`,
  /** For a member who cancels before anything has started. */
  backbeforestart: (days: number) =>
    `If you change your mind, you can bring them back within ${days} days of canceling, if you still qualify.`,
  noreturn:
    'Once they have ended, you cannot bring them back: as things stand, your plan is not open to you any more.',
  /** The partner sent details that differ from the confirmed ones; `link` leads to where the person can use them. */
  newer: (partner: string, details: string, link: string) =>
    `${partner} sent newer details for: ${details}. You can use them under “${link}” below.`,
  /** Before benefits are restored after a cancel: agreements and beneficiaries are kept. */
  agreedbefore: 'What you agreed to before holds again.',
  namedbefore: 'The beneficiaries you named before count again.',
  dropsswap: 'The swap that you had planned will not happen.',
  /** For a member whose details no longer fit the rules of their plan. */
  ineligible: {
    title: (plan: string) => `Your details no longer fit the rules of ${plan}`,
    keeps:
      'This alone does not end your plan or the benefits listed here. A benefit that shows an end date ends on that day.',
    back: (plan: string) => `If you leave ${plan}, you may not be able to come back to it.`,
    correct: (link: string) => `If one of your details is wrong, correct it under “${link}” below.`,
    ask: (partner: string) => `If you have questions, ask ${partner}.`,
  },
}
