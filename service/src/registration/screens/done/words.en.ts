type Said = { readonly title: string; readonly lead: string; readonly next: readonly string[] }

const nothingElse = 'You do not have to do anything else.'
const nothingUntilThen = 'You do not have to do anything until then.'
const swapsByItself = 'The swap happens by itself on that day.'

/** English words for what was done, by what and when; every other language has the same keys. */
export const doneEn = {
  reference: (phone: string) => `Keep your reference. You need it if you call ${phone}.`,
  referenceplain: 'Keep your reference for your records.',
  /** Not shown beside something that the person may still do. */
  nothing: [nothingElse, nothingUntilThen] as readonly string[],
  /** Not shown while something is needed from the person, because it would be untrue. */
  idle: [nothingElse, nothingUntilThen, swapsByItself] as readonly string[],
  stillneededask: (partner: string) => `Something is still needed from you. Ask ${partner} what it is.`,
  enrolled: {
    now: (): Said => ({
      title: 'You are enrolled',
      lead: 'Each benefit shows when it starts.',
      next: [nothingElse],
    }),
    from: (on: string): Said => ({
      title: `You are enrolled from ${on}`,
      lead: `Your benefits start on ${on}. There is no coverage before that day.`,
      next: [nothingUntilThen],
    }),
  },
  added: {
    now: (count: number): Said => ({
      title: count === 1 ? 'Your new benefit is added' : 'Your new benefits are added',
      lead: 'These are all your benefits.',
      next: [nothingElse],
    }),
    from: (count: number, on: string): Said => ({
      title:
        count === 1
          ? `Your new benefit is added and starts on ${on}`
          : `Your new benefits are added and start on ${on}`,
      lead: 'There is no coverage before that day.',
      next: [nothingUntilThen],
    }),
  },
  upgraded: {
    now: (plan: string): Said => ({
      title: `You moved up to ${plan}`,
      lead: 'Your new plan is in force.',
      next: [nothingElse],
    }),
    from: (plan: string, on: string): Said => ({
      title: `You move up to ${plan} on ${on}`,
      lead: 'Nothing changes before that day.',
      next: ['Your plan changes by itself on that day.'],
    }),
  },
  downgraded: {
    now: (plan: string): Said => ({
      title: `You moved to ${plan}`,
      lead: 'Your plan has changed. These are your benefits now.',
      next: [nothingElse],
    }),
    from: (plan: string, on: string): Said => ({
      title: `You move to ${plan} on ${on}`,
      lead: 'Until then you keep the plan and the benefits you have now.',
      next: ['Your plan changes by itself on that day. What does not come with it ends on the day shown.'],
    }),
  },
  swapped: {
    now: (): Said => ({
      title: 'Your swap took effect',
      lead: 'These are your benefits now.',
      next: [nothingElse],
    }),
    from: (on: string): Said => ({
      title: `Your swap is set for ${on}`,
      lead: 'Until then you keep the benefits you have now.',
      next: [swapsByItself],
    }),
  },
  cancelled: {
    now: {
      today: (on: string): Said => ({
        title: 'Your benefits have ended',
        lead: `Your coverage ended today, ${on}.`,
        next: [],
      }),
      past: (on: string): Said => ({
        title: 'Your benefits have ended',
        lead: `Your last day of coverage was ${on}.`,
        next: [],
      }),
      neverbegun: {
        title: 'Your enrollment is canceled',
        lead: 'Your benefits had not started, and they will not start.',
        next: [],
      } as Said,
    },
    from: (on: string, later: string): Said => ({
      title: `Your benefits will end on ${on}`,
      lead: 'You are covered until the end of that day.',
      next: [`Changed your mind? Until then you can keep your benefits. ${later}`],
    }),
    later: 'For 30 days after that you can still bring them back if you qualify.',
    dropped: 'The swap or plan change that you had planned will not happen.',
    back: (partner: string, until: string) =>
      `If you change your mind and still qualify, you can bring your benefits back. The last moment is ${until}. Open your benefits from ${partner} again.`,
  },
  undone: {
    swap: {
      now: (_plan: string): Said => ({
        title: 'Your swap is undone',
        lead: 'You keep the benefits you have now.',
        next: [nothingElse],
      }),
      from: (plan: string, on: string): Said => ({
        title: `Your swap is undone, and ${plan} starts on ${on}`,
        lead: 'Your benefits start as they were planned before.',
        next: [nothingUntilThen],
      }),
    },
    offer: {
      now: (plan: string): Said => ({
        title: `You stay on ${plan}`,
        lead: 'The change of your plan is undone.',
        next: [nothingElse],
      }),
      from: (plan: string, on: string): Said => ({
        title: `You start with ${plan} on ${on}`,
        lead: 'The change of your plan is undone. There is no coverage before that day.',
        next: [nothingUntilThen],
      }),
    },
  },
  /** For a cancel or a plan change that is undone after it had dropped what was planned before it. */
  staysdropped: 'A swap or plan change that you had planned before does not come back.',
  kept: {
    title: 'You keep your benefits',
    lead: 'The cancellation is undone. Your coverage goes on without a gap.',
    next: [nothingElse],
  } as Said,
  reinstated: {
    now: (): Said => ({
      title: 'Your benefits are back',
      lead: 'Your plan is in force again. There was no coverage while it was canceled.',
      next: [nothingElse],
    }),
    from: (on: string): Said => ({
      title: `Your benefits are back and start on ${on}`,
      lead: 'There is no coverage before that day.',
      next: [nothingUntilThen],
    }),
    missing: (names: string) => `This could not come back: ${names}.`,
  },
}
