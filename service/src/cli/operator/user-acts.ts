import {
  type Command,
  choiceOf,
  flag,
  neededText,
  repeatable,
  UsageError,
  valued,
} from '@benefit-enrolment/command'
import { cancelReasons } from '@benefit-enrolment/contract/names'
import { cancel, changeOffer, OFFER_TIMES, reinstate } from '../../console/acts/act.ts'
import { CONSENT_CHANNELS, recordConsent } from '../../console/acts/consent.ts'
import { callSwapOff, swap, swapForm } from '../../console/acts/swap.ts'
import { openBenefit } from '../../membership/rules/terms.ts'
import { OperatorError } from '../../operator-error.ts'
import { neededDate } from '../date-option.ts'
import { actCommand } from './act-command.ts'
import { correctUser } from './user-correct.ts'

const cancelUser = actCommand({
  name: 'user cancel',
  summary: 'Cancel a membership.',
  options: {
    effective: valued('WHEN', 'endofperiod (default) or immediate'),
    cause: valued('CAUSE', `${cancelReasons.join(', ')} (default voluntary)`),
  },
  read: input => {
    const effective = choiceOf(input, 'effective', ['endofperiod', 'immediate']) ?? 'endofperiod'
    const cause = choiceOf(input, 'cause', cancelReasons) ?? 'voluntary'
    return () => ({ act: cancel, form: new URLSearchParams({ effective, cause }) })
  },
})

const reinstateUser = actCommand({
  name: 'user reinstate',
  summary: 'Take a cancel back: a pending one, or one that took effect less than 30 days ago.',
  options: {},
  read: () => () => ({ act: reinstate, form: new URLSearchParams() }),
})

const offerUser = actCommand({
  name: 'user offer',
  summary: 'Change the offer; the present offer undoes a pending change.',
  options: {
    to: valued('OFFER', 'the offer to change to (needed)'),
    effective: valued('WHEN', 'auto (default: up at once, down at the next period), immediate or nextperiod'),
  },
  read: input => {
    const offername = neededText(input, 'to')
    const effective = choiceOf(input, 'effective', OFFER_TIMES) ?? 'auto'
    return () => ({ act: changeOffer, form: new URLSearchParams({ offername, effective }) })
  },
})

const swapUser = actCommand({
  name: 'user swap',
  summary: 'Swap benefits at the end of the period; replaces a pending swap, which --off calls off.',
  options: {
    add: repeatable('NAME', 'a benefit that comes: the first in the place of the first --remove, and so on'),
    remove: repeatable('NAME', 'a benefit that goes'),
    off: flag('call the pending swap off'),
  },
  read: input => {
    const lists = { add: input.list('add'), remove: input.list('remove') }
    const isOff = input.flag('off')
    if (isOff === lists.add.length + lists.remove.length > 0)
      throw new UsageError('Give --add, --remove or both, or --off; see --help.')
    return () => ({ act: isOff ? callSwapOff : swap, form: swapForm(lists) })
  },
})

const consentUser = actCommand({
  name: 'user consent',
  summary: 'Put on record that the person agreed, outside the page, to the terms of a benefit.',
  options: {
    benefit: valued('NAME', 'the benefit whose terms in force they agreed to (needed)'),
    channel: valued('HOW', `${CONSENT_CHANNELS.join(', ')} (needed)`),
    language: valued('LANGUAGE', 'en (default) or es'),
    'agreed-on': valued('DATE', 'on which day, in the partner’s zone (needed)'),
    evidence: valued('TEXT', 'where the recording, the paper or the message is kept; sealed (needed)'),
  },
  read: input => {
    const benefit = neededText(input, 'benefit')
    neededText(input, 'channel')
    const asked = {
      channel: choiceOf(input, 'channel', CONSENT_CHANNELS) ?? '',
      language: choiceOf(input, 'language', ['en', 'es']) ?? 'en',
      agreedon: neededDate(input, 'agreed-on'),
      evidence: neededText(input, 'evidence'),
    }
    return ({ terms }) => {
      const consent = openBenefit(terms, benefit)?.consent
      if (!consent) throw new OperatorError('No benefit of that name asks for a consent: check its spelling.')
      const form = new URLSearchParams({ ...asked, consent: `${benefit} ${consent.version}` })
      return { act: recordConsent, form }
    }
  },
})

/** The acts of the console on a user, as commands. */
export const userActs: readonly Command[] = [
  cancelUser,
  reinstateUser,
  offerUser,
  swapUser,
  consentUser,
  correctUser,
]
