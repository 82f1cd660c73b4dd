// @whole

import { spawn } from 'node:child_process'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newWorkplace } from '../command/place.ts'
import { bin, root, startProcess } from '../command/process.ts'
import { wholeRunTest } from '../long.ts'
import { hasPython, runs, startRecorder } from './sample-runs.ts'

// The blocks of the guides about moving in, feeds, months and families, run as they are printed against what `npm start` runs. What stands
// for something of the reader's own, such as PARTNERID, is replaced; a wait is not waited for. The example of a
// move and a run of a feed are also printed by dev, whose test runs them in `npm test`.

async function guide(name: string): Promise<string> {
  return readFile(join(root, `docs/${name}.md`), 'utf8')
}
function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, code = '']) => code,
  )
}

async function startGuide() {
  const { place: made, remove } = await newWorkplace()
  onTestFinished(remove)
  const { cwd: folder } = made
  const place = { ...made, env: { ...made.env, ENROLMENT_FEEDS: join(folder, 'data/feeds') } }
  const service = await startProcess(['dev', '--port', '0'], place)
  await expect.poll(service.stdout).toContain('the webhooks that arrived')
  const given = (name: string) => new RegExp(`^ *${name} +(\\S+)$`, 'm').exec(service.stdout())?.[1] ?? ''
  const { address, answered } = await startRecorder(service.address)
  const [CLIENT_ID, CLIENT_SECRET, API_KEY] = [given('client id'), given('client secret'), given('api key')]
  const token = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token: TOKEN } = (await token.json()) as { access_token: string }
  const { partnerid } = JSON.parse(await readFile(join(folder, 'data/demo.json'), 'utf8')) as {
    partnerid: string
  }
  const PATH = process.env['PATH'] ?? ''
  const env = { PATH, ...place.env, BASE_URL: address, CLIENT_ID, CLIENT_SECRET, API_KEY, TOKEN }
  await mkdir(join(folder, 'feeds'))
  await copyFile(join(root, 'examples/moving-in/members.csv'), join(folder, 'members.csv'))
  await mkdir(join(folder, 'examples'))
  await symlink(join(root, 'examples/moving-in'), join(folder, 'examples/moving-in'))
  const shell = async (blocks: readonly string[]) => {
    const prelude = [
      'set -e',
      `npx() { shift; ${process.execPath} ${bin} "$@"; }`,
      // The made-up insurer answers within some seconds; one look for it is enough.
      'export ENROLMENT_PROCESSES=1',
    ]
    const script = [...prelude, ...blocks].join("\necho '---'\n")
    const child = spawn('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', part => (stdout += part))
    child.stderr.on('data', part => (stderr += part))
    const code = await new Promise(resolve => child.once('close', resolve))
    expect({ code, stderr: code === 0 ? '' : stderr + stdout }).toEqual({ code: 0, stderr: '' })
    return stdout.split('---\n').slice(prelude.length)
  }
  return { folder, partnerid, service, address, answered, env, shell }
}

/** The month in which a partner is now, who is hours behind UTC. */
function partnersMonth(): string {
  const form = { timeZone: 'America/New_York', year: 'numeric', month: '2-digit' } as const
  return new Intl.DateTimeFormat('en-CA', form).format()
}

wholeRunTest(
  'moving in: each line of each bulk is taken, and the members of the example move in and are charged from this month',
  async () => {
    const { folder, partnerid, env, answered, shell } = await startGuide()
    const text = await guide('moving-in')
    const [line = ''] = blocksOf(text, 'json').filter(code => code.includes('"operation"'))
    await writeFile(join(folder, 'users.ndjson'), line)
    const curls = blocksOf(text, 'sh').filter(code => code.startsWith('curl'))
    expect(curls).toHaveLength(1)
    await shell(curls)
    for (const [language, run] of Object.entries(runs))
      if (language !== 'sh' && (language !== 'python' || hasPython))
        expect(await run(blocksOf(text, `(?:${language})`), { folder, env })).toBe('')
    const bulks = answered.filter(({ path }) => path === '/user/bulk')
    expect(bulks.length).toBeGreaterThanOrEqual(hasPython ? 3 : 2)
    expect(bulks.flatMap(({ lines = [] }) => lines).filter(status => status !== 200)).toEqual([])
    const imports = blocksOf(text, 'sh').filter(code => code.includes('npx enrolment import'))
    const said = await shell(imports.map(code => code.replaceAll('PARTNERID', partnerid)))
    expect(said.join('')).toMatch(
      /200 can be taken; nothing is changed\.[\s\S]*Statement of \d{4}-\d\d: [\s\S]*200 taken\./,
    )
    const month = await shell(
      blocksOf(await guide('month'), 'sh').map(code =>
        code
          .replaceAll('PARTNER', partnerid)
          .replaceAll(/2026-1[12]/g, partnersMonth())
          .replaceAll(/^.*finalize.*$/gm, ''),
      ),
    )
    expect(month.join('')).toContain('by insurers themselves')
  },
)

wholeRunTest(
  'the whole round of a feed: what was refused is named by its userid, and the stranger in the insurer’s list is shown',
  async () => {
    const { folder, partnerid, env, address, shell } = await startGuide()
    const text = await guide('feeds')
    await writeFile(join(folder, 'feeds.yaml'), blocksOf(text, 'yaml')[0] ?? '')
    const blocks = blocksOf(text, 'sh')
    const [first = '', ...round] = blocks
    await shell([`npx enrolment import ${partnerid} members.csv --reason x`])
    await shell([
      first.replace('/var/lib/enrolment/feeds', join(folder, 'feeds')).replace(/^.*feed run seaview$/m, ''),
    ])
    const own = (code: string) =>
      code.replaceAll('http://127.0.0.1:8080', address).replaceAll('PARTNERID', partnerid)
    const shown = (await shell([round[0] ?? ''].map(own))).join('')
    const [, , userid = ''] = /refused: line (\d+) {2}(member-\d+)/.exec(shown) ?? []
    expect(userid, shown).not.toBe('')
    const file = await readFile(join(folder, 'members.csv'), 'utf8')
    const dob = new RegExp(`^${userid},.*?(\\d{4}-\\d\\d-)(\\d\\d)`, 'm').exec(file)
    const moved = `${dob?.[1]}${dob?.[2] === '01' ? '02' : '01'}`
    const said = await shell(
      [(round[1] ?? '').replace('USERID', userid).replace('YYYY-MM-DD', moved)].map(own),
    )
    expect(said.join('')).toContain(`"userid":"${userid}"`)
    const later = new Date(Date.now() + 62 * 86_400_000).toISOString()
    const ended = await shell([(round[2] ?? '').replace('TIMESTAMP', later)].map(own))
    expect(ended.join('')).toMatch(/,T,/)
    const compared = (await shell([round[3] ?? ''].map(own))).join('')
    expect(compared).toMatch(/missingthere: \d{2,}/)
    expect(compared).toContain('lastname: we say nothing, it says Nobody')
    const dental = (await shell([round[4] ?? ''])).join('')
    // Of `npm start`'s own people: a domestic partner and a child, each beside a member.
    for (const written of ['INS*Y*18*021', 'INS*N*53*021', 'INS*N*19*021', 'HD*021**DEN**ECH'])
      expect(dental).toContain(written)
    expect(env.TOKEN).not.toBe('')
  },
)

test('the guide about families covers a spouse at once, and a child beside from the next month, at the prices of the catalogue', async () => {
  const { shell } = await startGuide()
  const [token = ''] = blocksOf(await guide('quick-start'), 'sh').filter(code => code.includes('call()'))
  const now = new Date()
  // In the last hours of a month changes of cover are locked.
  const middle = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 10)).toISOString()
  const clock = `call "$BASE_URL/sandbox/clock" -d '{"advanceto":"${middle}"}'`
  const blocks = blocksOf(await guide('family'), 'sh')
  const [, , created, people, preview, planned] = await shell([token, clock, ...blocks])
  const held = JSON.parse(created ?? '') as { benefits: { name: string }[] }
  expect(held.benefits.find(({ name }) => name === 'dental')).toMatchObject({ tier: 'mespouse' })
  const { dependants } = JSON.parse(people ?? '') as { dependants: { dependantid: string }[] }
  expect(dependants).toMatchObject([
    { firstname: 'Grace', benefits: [{ name: 'dental', state: 'covered' }] },
    { firstname: 'Ada', benefits: [] },
  ])
  const change = {
    before: { tier: 'mespouse', cost: { cents: 300, per: 'month' } },
    after: {
      tier: 'family',
      dependants: dependants.map(({ dependantid }) => dependantid),
      cost: { cents: 600, per: 'month' },
    },
  }
  expect(JSON.parse(preview ?? '')).toMatchObject(change)
  expect(JSON.parse(planned ?? '')).toMatchObject(change)
})

test('the lines for operators about the record, the keys and the console’s people do what they say, and the curl lines about a token and about the sandbox’s clock are answered', async () => {
  const { folder, partnerid, address, shell } = await startGuide()
  const about = async (name: string, word: string) =>
    blocksOf(await guide(name), 'sh')
      .filter(code => code.includes(`npx enrolment ${word}`))
      .map(code => code.replaceAll(/019abc[\w-]*…/g, partnerid))
  await mkdir(join(folder, 'kept-elsewhere'))
  const curls = (await Promise.all(['authentication', 'sandbox'].map(guide)))
    .flatMap(text => blocksOf(text, 'sh'))
    .map(code => code.replaceAll('https://benefits.example.com', address).replace(/^curl/, 'curl -sf'))
  expect(curls).toHaveLength(2)
  const [added, exported, rotated, token, clock] = await shell([
    ...(await about('support', 'operator add')),
    ...(await about('operating', 'audit export')),
    ...(await about('operating', 'keyring rotate')).map(code => code.replace(/^.*keyring retire.*\n/m, '')),
    ...curls,
  ])
  expect(added).toMatch(/Grace Hopper[\s\S]*support/)
  expect(exported).toMatch(/rows are as they were signed\n\d+ kept signatures are those of their blocks/)
  expect(rotated).toMatch(/root[\s\S]*pepper/)
  expect(JSON.parse(token ?? '')).toHaveProperty('access_token')
  expect(JSON.parse(clock ?? '')).toHaveProperty('now')
})
