import {
  type Command,
  choiceOf,
  type Input,
  repeatable,
  UsageError,
  valued,
} from '@benefit-enrolment/command'
import { formatTimestamp, timestampOrNull } from '../../calendar/calendar.ts'
import { needsSecond, readPolicy, SECOND_PERSON_ACTIONS, writePolicy } from '../../console/requests/store.ts'
import { OperatorError } from '../../operator-error.ts'
import { comparedEmail, type Operator, ROLES } from '../../operators/operator.ts'
import { LINK_LIFETIME_MS, mintLink } from '../../operators/sign-in.ts'
import {
  disableOperator,
  enableOperator,
  findOperator,
  insertOperator,
  listOperators,
  readConsoleUrl,
} from '../../operators/store.ts'
import { requirePartner } from '../../partners/administer.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { fixKind, inWorkspace, type Workspace } from '../workspace.ts'

const add: Command = {
  name: 'operator add',
  arguments: ['NAME'],
  summary: 'Create an operator of the console; prints a sign-in link that works once.',
  options: {
    role: valued(ROLES.join('|'), 'what the person may do (needed)'),
    partner: repeatable('ID', 'only for this partner (default: all, those to come included)'),
    email: valued(
      'EMAIL',
      'by which another account of the same person is known, which then cannot confirm what this one asks for',
    ),
  },
  run: async input => {
    const [name = ''] = input.positionals
    const role = choiceOf(input, 'role', ROLES)
    if (!role) throw new UsageError('--role is needed; see --help.')
    if (role === 'developer' && input.list('partner').length !== 1)
      throw new UsageError('A developer works for one partner: --partner is needed, once; see --help.')
    if (name.trim() !== name || name === '' || name.length > 100 || /\p{Cc}/u.test(name))
      throw new UsageError(
        'A name of one line and 1 to 100 characters is needed, without spaces around it; see --help.',
      )
    const given = input.text('email')
    const email = given === undefined ? undefined : comparedEmail(given)
    if (given !== undefined && email === undefined)
      throw new UsageError('--email must be an email address; see --help.')
    await inWorkspace(
      input,
      async workspace => {
        const { real } = workspace
        await fixKind(workspace)
        const partners = await partnersOf(workspace, input.list('partner'))
        const operator = {
          operatorId: uuidv7(real()),
          name,
          role,
          partners,
          email,
          createdAt: real(),
          disabledAt: undefined,
        }
        const token = await workspace.commit(async tx => {
          if (!(await insertOperator(tx, operator)))
            throw new OperatorError(`There is an operator ${name} already: see \`enrolment operator list\`.`)
          workspace.record(concerning(input, operator, role))
          return mintLink({ ...workspace, database: tx }, operator)
        })
        await printLink(input, workspace, { operator, token })
      },
      { schema: 'make' },
    )
  },
}

const link: Command = {
  name: 'operator link',
  arguments: ['NAME'],
  summary: 'Print a new sign-in link for an operator; the earlier one stops working.',
  run: input =>
    inWorkspace(input, async workspace => {
      const operator = await required(workspace, input.positionals[0] ?? '')
      if (operator.disabledAt !== undefined)
        throw new OperatorError(
          `${operator.name} is disabled: \`enrolment operator enable\` comes first, where that is meant.`,
        )
      // Otherwise an operator whose group was withdrawn at the provider could still sign in by a link.
      if (operator.issuer !== undefined)
        throw new OperatorError(`${operator.name} signs in at ${operator.issuer}, not by a link.`)
      workspace.record(concerning(input, operator))
      const token = await workspace.commit(tx => mintLink({ ...workspace, database: tx }, operator))
      await printLink(input, workspace, { operator, token })
    }),
}

const list: Command = {
  name: 'operator list',
  summary: 'List the operators of the console.',
  run: input =>
    inWorkspace(input, async ({ database }) => {
      const operators = (await listOperators(database)).map(one => ({
        operatorid: one.operatorId,
        name: one.name,
        role: one.role,
        partners: one.partners ?? null,
        issuer: one.issuer ?? null,
        email: one.email ?? null,
        createdat: formatTimestamp(one.createdAt),
        disabledat: timestampOrNull(one.disabledAt),
      }))
      input.print(
        { operators },
        operators.map(
          one =>
            `${one.name.padEnd(24)}${one.role.padEnd(9)}${one.partners?.join(', ') ?? 'all partners'}${one.issuer === null ? '' : `  by ${one.issuer}`}${one.disabledat === null ? '' : '  disabled'}`,
        ),
      )
    }),
}

const disable: Command = {
  name: 'operator disable',
  arguments: ['NAME'],
  summary: 'Disable an operator of the console: sessions and links end at once.',
  run: input =>
    inWorkspace(input, async workspace => {
      const operator = await required(workspace, input.positionals[0] ?? '')
      const { name } = operator
      workspace.record(concerning(input, operator))
      await workspace.commit(tx => disableOperator(tx, name, workspace.real()))
      input.print({ name, disabled: true }, [`${name} is disabled; open sessions have ended.`])
    }),
}

const enable: Command = {
  name: 'operator enable',
  arguments: ['NAME'],
  summary: 'Enable an operator who was disabled, with the same role and partners.',
  run: input =>
    inWorkspace(input, async workspace => {
      const operator = await required(workspace, input.positionals[0] ?? '')
      const { name } = operator
      workspace.record(concerning(input, operator))
      await workspace.commit(tx => enableOperator(tx, name))
      input.print({ name, disabled: false }, [
        operator.issuer === undefined
          ? `${name} is enabled; \`enrolment operator link\` makes a new sign-in link.`
          : `${name} is enabled and signs in at ${operator.issuer}.`,
      ])
    }),
}

const policy: Command = {
  name: 'operator policy',
  arguments: ['[ACTION]', '[on|off]'],
  summary: 'Show or set which actions need a second operator; all do until they are switched off.',
  run: input => {
    const [wanted, state] = input.positionals
    const action = SECOND_PERSON_ACTIONS.find(one => one === wanted)
    if (wanted !== undefined && (!action || (state !== 'on' && state !== 'off')))
      throw new UsageError(
        `Give an action (${SECOND_PERSON_ACTIONS.join(', ')}) and on or off, or nothing, to see the settings; see --help.`,
      )
    return inWorkspace(input, async ({ database, record, commit }) => {
      if (action) {
        record({ action: `operator policy ${action} ${state}` })
        await commit(tx => writePolicy(tx, action, state === 'on'))
      }
      const now = await readPolicy(database)
      const shown = SECOND_PERSON_ACTIONS.map(one => [one, needsSecond(now, one)] as const)
      input.print(
        Object.fromEntries(shown),
        shown.map(
          ([one, isNeeded]) => `${one.padEnd(13)}${isNeeded ? 'needs a second person' : 'is done at once'}`,
        ),
      )
    })
  },
}

async function printLink(
  input: Input,
  { real, database }: Workspace,
  { operator, token }: { operator: Operator; token: string },
): Promise<void> {
  const path = `/sign-in/${token}`
  const base = await readConsoleUrl(database)
  const expiresat = formatTimestamp(real() + LINK_LIFETIME_MS)
  input.print(
    {
      operatorid: operator.operatorId,
      name: operator.name,
      role: operator.role,
      path,
      url: base && base + path,
      expiresat,
    },
    [
      `${operator.name} (${operator.role}) signs in with this link, once, until ${expiresat}:`,
      base === undefined
        ? `  ${path}   (once the console runs, after its address: \`enrolment console\`)`
        : `  ${base}${path}`,
    ],
  )
}

async function partnersOf(
  { database }: Workspace,
  wanted: readonly string[],
): Promise<readonly string[] | undefined> {
  if (wanted.length === 0) return undefined
  const rows = await Promise.all(wanted.map(id => requirePartner(database, id)))
  return [...new Set(rows.map(row => row.partner_id))]
}

async function required({ database }: Workspace, name: string): Promise<Operator> {
  const operator = await findOperator(database, name)
  if (!operator) throw new OperatorError(`There is no operator ${name}: see \`enrolment operator list\`.`)
  return operator
}

/** The audit entry of a command about an operator names that operator by id, since a name may be personal data. */
function concerning(
  { command }: Pick<Input, 'command'>,
  { operatorId }: Pick<Operator, 'operatorId'>,
  ...words: readonly string[]
): { readonly action: string } {
  return { action: [command, ...words, operatorId].join(' ') }
}

/** The commands about operators of the console. */
export const operatorCommands: readonly Command[] = [add, link, list, disable, enable, policy]
