/** English words about coverage, price, documents and the copy; every other language has the same keys. */
export const coverageEn = {
  price: {
    free: 'Free',
    week: (amount: string) => `${amount} a week`,
    month: (amount: string) => `${amount} a month`,
    once: (amount: string) => `${amount} once`,
    youpay: (price: string) => `You pay ${price}`,
    taken: (price: string, how: string, by: string) => `You pay ${price}, taken ${how} by ${by}`,
    takenplain: (how: string, by: string) => `Taken ${how} by ${by}`,
    and: (one: string, other: string) => `${one} and ${other}`,
    total: 'Your total',
    totalsofar: 'Your total so far',
    /** Where no script adds it up. */
    totalnext: 'Your total is on the next page.',
    /** For a member, whose other benefits are not in the sum. */
    added: 'What you add costs',
    addedsofar: 'What you add costs so far',
    addednext: 'The next page says what you add costs.',
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
  plan: {
    holds: 'What comes with it',
    choose: (slots: number) => (slots === 1 ? 'Choose 1 of these' : `Choose up to ${slots} of these`),
    choosemore: (slots: number) =>
      slots === 1 ? 'Choose 1 more of these' : `Choose up to ${slots} more of these`,
  },
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
}
