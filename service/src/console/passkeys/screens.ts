import { describeCause } from '../../log.ts'
import { insertPasskey, listPasskeys, MOST_PASSKEYS, removePasskey } from '../../operators/passkey-store.ts'
import { madePasskey, noPasskeysFor, optionsToAdd } from '../../operators/passkeys.ts'
import { recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  notHere,
  onChange,
  onGet,
  type Screen,
  type Visit,
} from '../screen/screen.ts'
import { passkeysPage } from '../views/passkeys.ts'

/** An operator's own passkeys: see, add and remove them. */
export const passkeyScreens: readonly Screen[] = [
  onGet('/passkeys', 'viewer', show),
  onChange('/passkeys/add', 'viewer', add),
  onChange('/passkeys/remove', 'viewer', remove),
]

async function show(visit: Visit): Promise<Answer> {
  const { context, operator, origin } = visit
  const passkeys = await listPasskeys(context.database, operator.operatorId)
  const isOpen =
    operator.issuer === undefined && passkeys.length < MOST_PASSKEYS && noPasskeysFor(origin) === undefined
  const options = isOpen ? await optionsToAdd(context, addingOf(visit)) : undefined
  return passkeysPage(visit, passkeys, options)
}

async function add(visit: Visit): Promise<Answer> {
  const { context, operator, form } = visit
  if (operator.issuer !== undefined)
    throw new ConsoleRefusal(
      409,
      'Not for you',
      'You sign in at your identity provider, which decides each time what you may do.',
    )
  const answer = form.get('answer') ?? ''
  if (answer === '')
    throw new ConsoleRefusal(
      422,
      'This needs script',
      'Your browser runs no script here, and only a script can ask for a passkey. A sign-in link works without.',
    )
  const passkey = await madePasskey(context, addingOf(visit), answer).catch(error => {
    context.log('console_passkey_refused', { requestid: visit.requestId, ...describeCause(error) })
    return undefined
  })
  const isAdded = await context.database.transaction(async tx => {
    const isNew = passkey !== undefined && (await insertPasskey(tx, passkey))
    await tx.query(recordAlongside(visit, { action: 'add passkey', result: isNew ? 'done' : 'refused' }))
    return isNew
  })
  if (isAdded) return { to: '/passkeys' }
  throw new ConsoleRefusal(
    409,
    'No passkey was added',
    'The answer of your browser was not to a question of this page, or came after 5 minutes, or the passkey is known already. Go back, load the page again, and try once more.',
  )
}

async function remove(visit: Visit): Promise<Answer> {
  const { context, operator, form } = visit
  await context.database.transaction(async tx => {
    const isRemoved = await removePasskey(tx, operator.operatorId, form.get('passkey') ?? '')
    if (!isRemoved) throw notHere('passkey')
    await tx.query(recordAlongside(visit, { action: 'remove passkey' }))
  })
  return { to: '/passkeys' }
}

function addingOf({ operator, session, origin }: Visit) {
  return { operator, sessionId: session.sessionId, origin }
}
