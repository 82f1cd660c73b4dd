import { type Command, flag, type Input, neededText, type Option, valued } from '@benefit-enrolment/command'
import { sealReason } from '../../audit/reason.ts'
import { type Act, submitAct, tryAct, type UserState, wordsOf } from '../../console/acts/act.ts'
import { certificateOf, wordsOfCertificate } from '../../console/acts/erase.ts'
import { needsSecond, readPolicy, type SecondPersonAction } from '../../console/requests/store.ts'
import { openCommandExecutor } from '../../membership/commands/executor.ts'
import type { ListedErasure } from '../../membership/erasure-list/list.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { viewMove } from '../../membership/rules/view.ts'
import { OperatorError } from '../../operator-error.ts'
import { inWorkspace, partnerIn, systemUser, type Workspace } from '../workspace.ts'
import { erasureListOf } from './erasures.ts'
import { memberContext, openMemberReader } from './members.ts'

/** The option with which one person does at the shell what the policy gives to two. */
const aloneOption: Readonly<Record<string, Option>> = {
  alone: flag('do it without the second person whom the policy asks for; this goes on record'),
}

/** What is left to do for a user who was erased before. */
const nothing = { lines: [], events: [], text: '' }

/** An act of the console, and the form that an operator would post there. */
export type ChosenAct = { readonly act: Act; readonly form: URLSearchParams }

/** What makes an act a command: its words, and how its options become the act's form for the user as it is now. */
type ActOptions = {
  readonly name: string
  readonly summary: string
  readonly options: Readonly<Record<string, Option>>
  /** Reads the options before anything is opened. Throws UsageError. */
  readonly read: (input: Input) => (moment: UserState) => ChosenAct
}

/**
 * A command that makes an act of the console for one user: the same preview (`--dry-run`), the same refusals, the same record, and the
 * second person where the policy asks for one, whom `--alone` waives on record. An erasure prints its certificate, also when asked
 * for again.
 */
export function actCommand({ name, summary, options, read }: ActOptions): Command {
  return {
    name,
    arguments: ['PARTNER', 'USERID'],
    summary,
    options: {
      ...options,
      reason: valued('TEXT', 'why; kept sealed on record (needed but with --dry-run)'),
      'dry-run': flag('only show what it would do'),
      ...aloneOption,
    },
    run: input => {
      const isDry = input.flag('dry-run')
      const choose = read(input)
      const reason = isDry ? '' : neededText(input, 'reason')
      return inWorkspace(input, async workspace => {
        const { config, dataDir, database, real, record, alongside } = workspace
        const [partnerId = '', userid = ''] = input.positionals
        const partner = await partnerIn(workspace, partnerId)
        const context = memberContext(workspace)
        const reader = openMemberReader(workspace, context)
        const reading = await reader.read(partner, userid)
        if (!reading)
          throw new OperatorError('This partner has no user of that userid: check the letter case, too.')
        const { user, now } = reading
        const { serviceId } = user
        record({ serviceId })
        const people = await reader.documents(partner, user)
        const moment = { user, now, terms: context.terms(partner, () => people.get('profile')) }
        const { act, form } = choose(moment)
        const isErased = user.status === 'erased'
        const effect = isErased ? nothing : tryAct(act, form, moment)
        if (isRefusal(effect)) throw new OperatorError(wordsOf(effect))
        const isNothing = effect.lines.length === 0
        let erasure: ListedErasure | undefined
        if (!isDry && (isErased || !isNothing)) {
          // Opened first: an erasure that could not be listed must not begin.
          const list = act.done && (await erasureListOf(config, dataDir))
          const noteErasure = async (one: ListedErasure) => {
            erasure = one
            await list?.note(one)
          }
          if (act.second) await waiveSecondPerson(input, workspace, act.second)
          record({ sealedReason: sealReason(partner, serviceId, reason) })
          const by = { executor: openCommandExecutor(context), noteErasure }
          const refused = isErased
            ? await act.done?.(by, user)
            : await submitAct(
                by,
                { partner, user, serviceId },
                { act, form, actor: systemUser(), alongside: [alongside()], effect: effect.text },
              )
          if (refused) throw new OperatorError(wordsOf(refused))
        }
        if (erasure) {
          const certificate = await certificateOf(database, erasure)
          input.print(certificate, wordsOfCertificate(certificate, { partner, madeAt: real() }))
          return
        }
        const { events } = effect
        const changes = effect.lines.map(viewMove)
        const verb = isDry ? 'would hear' : 'hears'
        input.print({ serviceid: serviceId, dryrun: isDry, events, changes }, [
          isNothing
            ? 'Nothing: it is so already.'
            : isDry
              ? 'It would do this; nothing is changed.'
              : 'Done.',
          ...changes.map(({ what, from, to }) => `  ${what}: ${from || '–'} → ${to || '–'}`),
          `The partner ${verb}${events.length === 0 ? ' of nothing' : `: ${events.join(', ')}`}.`,
        ])
      })
    },
  }
}

/**
 * Throws OperatorError when the policy asks for a second person, unless the command says `--alone`, which is then part of
 * what is put on record.
 */
async function waiveSecondPerson(
  input: Input,
  { database, record }: Pick<Workspace, 'database' | 'record'>,
  action: SecondPersonAction,
): Promise<void> {
  if (!needsSecond(await readPolicy(database), action)) return
  if (!input.flag('alone'))
    throw new OperatorError(
      'This needs a second person: ask for it at the console, where another operator confirms it, or give --alone, which goes on record.',
    )
  record({ action: `${input.command} alone` })
}
