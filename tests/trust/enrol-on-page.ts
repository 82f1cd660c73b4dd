import type { Client } from '../../client/src/index.ts'
import { newVisitor, recordsAgreed } from '../page/visitor.ts'
import { ada } from '../rig.ts'
import type { OwnJournal } from './journal.ts'

/** Enrolls a new person by a link on the page of a service; false when a step failed, which may or may not have taken effect. */
export async function enrolOnPage(
  own: OwnJournal,
  { client, service }: { client: Pick<Client, 'prefillUser' | 'createLinkToken'>; service: string },
  userid: string,
): Promise<boolean> {
  await own.write(userid, 'prefill', () => client.prefillUser({ userid, ...ada }, { idempotencyKey: userid }))
  const { linkurl } = await client.createLinkToken({ userid, offername: 'starter' })
  const visitor = newVisitor(service)
  const enrol = async () => {
    await visitor.post(service + new URL(linkurl ?? '').pathname)
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', {})
    const { view, status } = await visitor.post('/register/enrol', recordsAgreed)
    if (view !== 'DONE') throw new Error(`${view} ${status}`)
  }
  const answering = () => own.write(userid, 'page step', () => own.write(userid, 'create', enrol))
  return own.write(userid, 'page open', answering).then(
    () => true,
    () => false,
  )
}
