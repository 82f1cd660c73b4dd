/** English words of the views where a visit ends or fails; every other language has the same keys. */
export const endsEn = {
  ended: {
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
      `For up to 30 days, links sent by text message or email will not open. Open your benefits in ${partner}’s app or on its website.`,
    challengewrong: (partner: string) =>
      `If you are sure of your date of birth, tell ${partner}: what it sent us may be wrong.`,
  },
  problem: {
    title: 'Something went wrong on our side',
    text: 'Your answers up to the last page are kept. Please try again in a moment.',
    notfoundtitle: 'This page does not exist',
    notfoundtext: 'Your answers are kept. Go back to your benefits to continue.',
    busytitle: 'We’re very busy right now',
    busytext: 'What you saved on earlier pages is kept. Please wait a moment, then try again.',
    foreigntitle: 'Nothing was changed',
    foreigntext:
      'We did not accept this because it was sent from another website, not from your benefits page. To go on, open your benefits from here or by your own link.',
    unreadabletitle: 'We could not read what was sent',
    unreadabletext: 'Nothing was changed. Your answers up to the last page are kept.',
    request: 'If you ask for help, please give this number:',
  },
}
