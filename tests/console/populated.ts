/// <reference lib="dom" />
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import type { Role } from '../../service/src/operators/operator.ts'
import { demoRound } from '../feeds/demo-round.ts'
import { ada, demoCatalogue, type TestPartner, type TestService } from '../rig.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { consoleOf, newOperator, signIn } from './operator-browser.ts'

/** What is on every screen of a console, and must be seen by support alone. */
export type Populated = {
  readonly service: TestService
  readonly partner: TestPartner
  readonly otherPartner: TestPartner
  readonly receiver: Receiver
  /** A member of the offer starter with telehealth. */
  readonly serviceid: string
  /** One of the offer plus, whose benefit identity waits for a consent. */
  readonly waitingid: string
  readonly webhookid: string
  readonly close: () => Promise<void>
}

/** What a viewer sees nowhere: who the person is, why something was done, what a receiver said. */
export const CANARIES = [
  'userid-canary',
  'Adacanary',
  'Riveracanary',
  'ada.canary',
  '12 Canary Drive',
  '3055550142',
  'answer-canary',
  'reason-canary',
  'nonpayment',
  'evidence-canary',
] as const

/**
 * Puts something on every screen of a service's console. The endpoint refuses all that it gets, with words of its own, and
 * an operator has worked there for a reason.
 */
export async function populate(service: TestService): Promise<Populated> {
  await service.publish(demoCatalogue.replace('slots: 2', 'slots: 3'))
  await service.publish(demoCatalogue)
  const partner = await service.newPartner({ name: 'Harbor Rides', retain: '7y' })
  const otherPartner = await service.newPartner({ name: 'Corner Bank' })
  const receiver = await startReceiver()
  receiver.answer = () => response => response.writeHead(422).end('answer-canary of the receiver\nand more')
  const { webhookid } = await partner.client.createWebhook({
    url: receiver.url,
    username: 'harbor',
    password: 'pilot',
    events: ['all'],
  })
  const { serviceid } = await partner.client.createUser({
    ...ada,
    userid: 'userid-canary',
    offername: 'starter',
    benefits: ['telehealth'],
  })
  await partner.client.cancelUser({ userid: 'userid-canary', reason: 'nonpayment' })
  await partner.client.reinstateUser({ userid: 'userid-canary' })
  // The insurer writes of the first person alone. Operators who see it may make no link for that person, only for the others.
  await demoRound(service, () => 'answer-canary of the insurer')
  const { serviceid: waitingid } = await partner.client.createUser({
    ...ada,
    dob: '1988-02-03',
    userid: 'userid-canary-2',
    offername: 'plus',
    benefits: ['identity'],
  })
  const admin = await signIn(service, 'admin')
  const reason = 'reason-canary of the call'
  await admin.post(`/users/${serviceid}/person`, { reason })
  const { partnerId: stopped } = await service.newPartner({ name: 'Former Rides' })
  await admin.post(`/partners/${stopped}/disable`, { reason })
  await vi.waitFor(
    async () => {
      const rows = await service.database.query(sql`
        select from delivery_attempts where partner_id = ${partner.partnerId} and sealed_answer is not null`)
      if (rows.length === 0) throw new Error('no answer of the receiver is kept yet')
    },
    { timeout: 120_000, interval: 100 },
  )
  return {
    service,
    partner,
    otherPartner,
    receiver,
    serviceid,
    waitingid,
    webhookid,
    close: () => receiver.close(),
  }
}

/** A page of a browser in which a new operator is signed in. */
export type SignedInPage = {
  readonly context: BrowserContext
  readonly page: Page
  readonly operatorId: string
  readonly name: string
}

/** Signs a new operator in, in a browser. */
export async function signInPage(
  { browser, service }: { browser: Browser; service: TestService },
  role: Role,
  { partners, ...options }: Parameters<Browser['newContext']>[0] & { partners?: readonly string[] } = {},
): Promise<SignedInPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  const { path, operatorId, name } = await newOperator(service, role, partners)
  await page.goto(consoleOf(service) + path)
  await page.getByRole('button', { name: 'Sign in' }).press('Enter')
  await page.waitForURL(`${consoleOf(service)}/`)
  return { context, page, operatorId, name }
}
