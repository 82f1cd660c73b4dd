import { type Command, type Input, UsageError } from '@benefit-enrolment/command'
import { formatTimestamp, parseTimestamp } from '../../calendar/calendar.ts'
import { describeCause } from '../../log.ts'
import { openCommandExecutor } from '../../membership/commands/executor.ts'
import { OperatorError } from '../../operator-error.ts'
import { advanceClockTo } from '../../sandbox/advance-clock.ts'
import { openSchedule } from '../../schedule/schedule.ts'
import { finalizeMonths } from '../../statements/finalize.ts'
import { memberContext } from '../operator/members.ts'
import { inWorkspace, partnerIn, type Workspace } from '../workspace.ts'

function instantOf(input: Input): number {
  const text = input.positionals[1] ?? ''
  const to = parseTimestamp(text.length === 20 ? text.replace(/Z$/, '.000Z') : text)
  if (to === undefined)
    throw new UsageError(
      'The instant must look like 2026-12-01T05:00:00Z, in UTC, with or without milliseconds; see --help.',
    )
  return to
}

/** Applies due changes without a running service; if one runs, both take turns. */
function scheduleOf(workspace: Workspace) {
  const context = memberContext(workspace)
  const { database, clock } = context
  const executor = openCommandExecutor(context)
  const failures: unknown[] = []
  const schedule = openSchedule({
    database,
    executor,
    clock,
    partners: async () => [],
    isServing: () => false,
    tidy: async () => true,
    onError: error => failures.push(error),
  })
  return { schedule, clock, failures }
}

const advance: Command = {
  name: 'clock advance',
  arguments: ['PARTNER', 'TIMESTAMP'],
  summary: "Move a sandbox partner's business clock forward, and apply everything that becomes due.",
  run: async input => {
    const to = instantOf(input)
    await inWorkspace(input, async workspace => {
      const { database, installation, alongside } = workspace
      if (!installation.sandbox)
        throw new OperatorError('This is not a sandbox: only the clock of a sandbox can be moved.')
      const { schedule, clock, failures } = scheduleOf(workspace)
      const partner = await partnerIn(workspace, input.positionals[0])
      if (to < clock.now(partner)) {
        const now = formatTimestamp(clock.now(partner))
        throw new OperatorError(
          `The clock of this partner shows ${now} already, and it only goes forward: give a later instant.`,
        )
      }
      const directory = { forget: () => {} }
      const context = { database, directory, clock, schedule }
      const now = await advanceClockTo(context, { partner, to, alongside: [alongside()] })
      if (now === undefined)
        throw new OperatorError(
          'The clock can be at most twenty years ahead of real time: give an earlier instant.',
        )
      // A month that has ended three days ago by the new clock is final.
      const counting = memberContext(workspace)
      await finalizeMonths(counting, partner, { which: 'due', mayGoOn: () => true })
      for (const failure of failures) process.stderr.write(`${JSON.stringify(describeCause(failure))}\n`)
      input.print({ partnerid: partner.partnerId, now: formatTimestamp(now) }, [
        `The clock of ${partner.name} shows ${formatTimestamp(now)}; what was due is applied.`,
      ])
    })
  },
}

/** The commands about a sandbox's clock. */
export const clockCommands: readonly Command[] = [advance]
