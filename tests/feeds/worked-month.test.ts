import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { openCorrections } from '../life/corrections.ts'
import { ada, demoCatalogue } from '../rig.ts'
import { columns, startFeeds } from './stage.ts'

const HOUR = 3_600_000
const zone = 'America/New_York'
const startAt = Date.UTC(2027, 2, 2, 15)
const stage = forAllTests(() => startFeeds({ startAt, catalogue: demoCatalogue }))

async function textOf(path: string): Promise<string> {
  return readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
}

/** The rows of the month in docs/feeds.md, each line as `add critical from 03-02`. */
async function documented(): Promise<{ readonly day: string; readonly lines: string[] }[]> {
  const guide = await textOf('docs/feeds.md')
  const [, month = ''] = /## A month of one person\n(.*?)\n## /s.exec(guide) ?? []
  return [...month.matchAll(/^\| (\w+ \d+): [^|]+\| ([^|]+)/gm)].map(([, day = '', said = '']) => ({
    day,
    lines: [...said.matchAll(/`(\w+)` (\w+ (?:from|to) \d\d-\d\d)/g)].map(line => `${line[1]} ${line[2]}`),
  }))
}

test('the month of docs/feeds.md is what the engine makes of it', async () => {
  const { service, newFeed } = stage
  const { client, partnerId } = await service.newPartner({ timezone: zone })
  const { lines, answer } = await newFeed({ benefits: ['critical', 'income'], columns })
  const correct = openCorrections(service, { partnerId, zone })
  const userid = 'ada'
  await client.createUser({ userid, ...ada, offername: 'plus' })
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    'Mar 2': () => client.enrolBenefit({ userid, name: 'critical' }),
    'Mar 5': () => client.updateUser({ userid, lastname: 'King' }),
    'Mar 9': () => correct(userid, { op: 'movestart', b: 'critical', days: -8 }),
    'Mar 12': () =>
      client.swapBenefits({ userid, add: ['income'], remove: ['critical'], previewonly: false }),
    'Apr 1': async () => undefined,
    'Apr 3': () => answer('LINE,STATUS,MESSAGE,CERT\n1,OK,,C-1\n2,E17,No such plan,\n', 5),
    'Apr 10': () => client.cancelUser({ userid, effective: 'immediate' }),
    'Apr 12': () => client.reinstateUser({ userid }),
    'Apr 20': async () => {
      await correct(userid, { op: 'void', b: 'income' })
      await client.enrolBenefit({ userid, name: 'critical' })
    },
    'Apr 22': () => client.eraseUser({ userid }),
  }
  const made: { day: string; lines: string[] }[] = []
  for (const [day, step] of Object.entries(steps)) {
    // Something happens in the morning, and the file is made early the next day.
    service.advance(Math.max(0, Date.parse(`${day}, 2027 15:00 UTC`) - service.now()))
    await step()
    service.advance(18 * HOUR)
    made.push({ day, lines: (await lines()).map(shortened) })
  }
  expect(made).toEqual(await documented())
})

/** A line of the feed as the guide writes it. */
function shortened(line: string): string {
  const [, action, benefit, from, to] =
    /^(\w+) .*?(\w+) \d{4}-(\d\d-\d\d)(?: \d{4}-(\d\d-\d\d))?$/.exec(line) ?? []
  return action === 'end' ? `${action} ${benefit} to ${to}` : `${action} ${benefit} from ${from}`
}

test('the feed of docs/feeds.md is that of the sandbox', async () => {
  const published = (await textOf('service/assets/demo-feeds.yaml')).replace(/^#.*\n/, '')
  expect(await textOf('docs/feeds.md')).toContain(`\`\`\`yaml\n${published}\`\`\``)
})
