import { publishVersion } from '../../service/src/catalogue/published.ts'
import { runContext } from '../../service/src/cli/feeds/run-context.ts'
import { sql } from '../../service/src/db/sql.ts'
import { writeRun } from '../../service/src/feeds/hand-over.ts'
import { parseFeeds } from '../../service/src/feeds/parse.ts'
import { runFeed } from '../../service/src/feeds/run.ts'
import { publishFeeds, readRun } from '../../service/src/feeds/store.ts'
import { markInstallation } from '../../service/src/installation.ts'
import type { TestService } from '../rig.ts'
import type { World } from './scripted-year.ts'

/** Answers and files as text, by what was asked for. */
export type Answers = Readonly<Record<string, string>>

const told = [
  ...['line', 'action', 'reason', 'run', 'serviceid', 'userid', 'memberid', 'firstname', 'lastname', 'dob'],
  ...['gender', 'email', 'phone', 'addline1', 'city', 'state', 'zipcode', 'benefit', 'offer', 'amountcents'],
  ...['costcents', 'premiumcents', 'startson', 'endson', 'effectiveon', 'partnername'],
]
const shared = { insurer: 'seaview', content: 'full', aheaddays: 30 }
const [some, others] = [
  ['accident', 'critical'],
  ['hospital', 'life', 'income'],
]
const feeds = {
  schema: 1,
  feeds: [
    {
      ...{ ...shared, feed: 'ascsv', benefits: some, format: 'csv' },
      columns: told.map(value => ({ name: value, value })),
    },
    {
      ...{ ...shared, feed: 'as834', benefits: others, format: 'x12834' },
      x12834: {
        ...{ sender: ['ZZ', 'OURS'], receiver: ['FI', '987654321'], sponsor: ['FI', '123456789'] },
        lines: Object.fromEntries((others ?? []).map(name => [name, 'HLT'])),
      },
    },
  ],
}

/** What partners of a world are answered about users and months, byte for byte. */
export async function partnersAnswers({ partners, users }: World, service: TestService): Promise<Answers> {
  const answers: Record<string, string> = {}
  for (const [nth, { clientId, clientSecret, apiKey }] of partners.entries()) {
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
    const body = new URLSearchParams({ grant_type: 'client_credentials' })
    const granted = await fetch(`${service.baseUrl}/oauth2/token`, {
      ...{ method: 'POST', headers: { authorization: basic }, body },
    })
    const { access_token: token } = (await granted.json()) as { access_token: string }
    const headers = {
      authorization: `Bearer ${token}`,
      'x-api-key': apiKey,
      'content-type': 'application/json',
    }
    const read = async (path: string, more: RequestInit = {}) => {
      const answer = await fetch(`${service.baseUrl}${path}`, { headers, ...more })
      return answer.text()
    }
    const keep = async (path: string) => {
      const text = await read(path)
      answers[`${nth} ${path}`] = text
      return text
    }
    await keep('/users')
    const { statements } = JSON.parse(await keep('/statements')) as { statements: { month: string }[] }
    for (const { month } of statements) {
      const path = `/statements/${month}/lines`
      await keep(path)
      answers[`${nth} ${path} CSV`] = await read(path, { headers: { ...headers, accept: 'text/csv' } })
    }
    for (const { userid } of users.filter(({ partner }) => partner === nth).map(({ user }) => user)) {
      const asked = { userid, include: ['timeline', 'insurer'] }
      const request = { method: 'POST', body: JSON.stringify(asked) }
      answers[`${nth} ${userid}`] = await read('/user/account/get', request)
    }
  }
  return answers
}

/** What insurers of a world were told, and would be told of everybody now; these are published as its feeds. */
export async function insurersFiles({ database, keyring, now: real }: TestService): Promise<Answers> {
  const installation = await markInstallation(database, { keyring, wanted: 'either', now: real() })
  const context = runContext({ database, keyring, real, installation })
  await context.prepareTerms([])
  const parsed = parseFeeds(JSON.stringify(feeds), context.published.today().catalogue)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  await publishFeeds(database, { document: parsed.document, at: real(), by: 'test' }, [])
  const files: Record<string, string> = {}
  for (let number = 1; ; number += 1) {
    const run = await readRun(database, 'seaview', number)
    if (!run) break
    const pieces: Buffer[] = []
    await writeRun(database, context, run, async bytes => pieces.push(bytes))
    files[`seaview ${number}`] = Buffer.concat(pieces).toString('latin1')
  }
  for (const { feed } of feeds.feeds) {
    const pieces: Buffer[] = []
    await runFeed(context, feed, {
      asked: { by: 'test', full: false, write: async bytes => pieces.push(bytes) },
      places: { folder: undefined, command: undefined },
    })
    files[feed] = Buffer.concat(pieces).toString('latin1')
  }
  return files
}

/** Publishes today's catalogue with tiers in each benefit. */
export async function publishTiers({ database, now }: TestService): Promise<void> {
  const [newest] = await database.query<{ document: { benefits: Record<string, unknown>[] } }>(sql`
    select document from catalogue_versions order by version desc limit 1`)
  const benefits = newest?.document.benefits.map(({ cost, premium, amount, ...benefit }) => {
    const worth = { cost, ...(premium ? { premium } : {}), ...(amount ? { amount } : {}) }
    const tiers = [
      { tier: 'me', who: [], ...worth },
      { tier: 'family', who: ['spouse', 'child'], ...worth },
    ]
    return { ...benefit, covers: { spouse: {}, child: { maxage: 26 } }, tiers }
  })
  const document = { ...newest?.document, benefits }
  await publishVersion(database, { document, files: [], at: now(), by: 'test' })
}
