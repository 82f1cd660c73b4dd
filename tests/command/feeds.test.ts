import { spawn } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { checkLogs, checkTables } from '../trust/canaries.ts'
import { urlOf } from './database-url.ts'
import { bin, root, run, runRefused } from './process.ts'

// By the clock of the commands.
const service = forAllTests(() => startTestService({ clock: 'machine' }))

test('a round by commands: file, answers, and the insurer’s own list beside what we say', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'feeds-'))
  const place = {
    cwd: folder,
    env: {
      DATABASE_URL: urlOf(service.address),
      ENROLMENT_ROOT_KEY: service.rootKey,
      ENROLMENT_FEEDS: folder,
    },
  }
  let logs = ''
  const feed = async <T>(...words: string[]): Promise<T> => {
    const { stdout, stderr } = await run(['feed', ...words, '--json'], place)
    logs += stderr
    return JSON.parse(stdout) as T
  }
  const write = (name: string, text: string) => writeFile(join(folder, name), text)
  const { client } = await service.newPartner()
  const { serviceid } = await client.createUser({ userid: 'told', ...ada, offername: 'starter' })
  const example = await readFile(join(root, 'service/assets/demo-feeds.yaml'), 'utf8')
  await write('wrong.yaml', example.replace('[accident, hospital]', '[accident, dentall]'))
  expect((await run(['feed', 'check', 'wrong.yaml'], place)).stderr).toMatch(/line 6.*no benefit dentall/)
  await write('misspelt.yaml', example.replace('insurer: seaview', 'insurer: seavew'))
  expect((await run(['feed', 'check', 'misspelt.yaml'], place)).stderr).toMatch(
    /line 5.*"seavew" is no insurer of the published catalogue; write seaview/,
  )
  await write('zone.yaml', example.replace('America/New_York', 'America/New_Jork'))
  expect((await run(['feed', 'check', 'zone.yaml'], place)).stderr).toContain(
    '"America/New_Jork" is no time zone',
  )
  await write('feeds.yaml', example)
  expect(await feed('publish', 'feeds.yaml')).toEqual({ version: 1, published: true })
  expect(await feed('run', 'seaview', '--dry-run')).toMatchObject({ run: 1, lines: 1, counts: { add: 1 } })
  const made = await feed<{ file: string }>('run', 'seaview')
  expect(made).toMatchObject({ run: 1, status: 'taken', lines: 1 })
  const { stdout } = await run(['feed', 'resend', 'seaview', '1', '--stdout'], place)
  expect(stdout).toBe(await readFile(made.file, 'utf8'))
  // Whose reader goes away: a sentence, and no event of a fault.
  const resent = spawn(process.execPath, [bin, 'feed', 'resend', 'seaview', '1', '--stdout'], place)
  resent.stdout.destroy()
  const told = await new Promise(resolve => resent.stderr.setEncoding('utf8').once('data', resolve))
  expect(told).toBe('Standard output could not be written (EPIPE): the answer is incomplete.\n')
  // With what would clear the operator's screen, and turn the rest of the line around.
  const said = `No such plan\u001b[2J\u009b2J\u202e for ${ada.lastname}`
  await write('answers.csv', `LINE,STATUS,MESSAGE,CERT\n1,E1,${said},C-1\n`)
  expect(await feed('answer', 'seaview', 'answers.csv')).toMatchObject({ run: 1, refused: 1 })
  const refused = [{ line: 1, userid: 'told', serviceid, benefit: 'accident', code: 'E1', text: said }]
  expect(await feed('show', 'seaview')).toMatchObject({ run: 1, refused })
  expect((await run(['feed', 'show', 'seaview'], place)).stdout).toContain(
    `No such plan\\u001b[2J\\u009b2J\\u202e for ${ada.lastname}\n`,
  )
  expect(await feed('run', 'seaview')).toMatchObject({ run: 2, lines: 1 })
  // Of the second, the insurer has a name in the wrong column.
  await write(
    'list.csv',
    `CERT,PLAN,FROM,TO,LAST,BORN\nC-1,accident,2020-01-01,,${ada.lastname},${ada.dob}\nC-9,${ada.firstname},,,${ada.firstname},\n`,
  )
  const today = await feed<{ dates: { differs: { ours: string }[] }[] }>('compare', 'seaview', 'list.csv')
  const startson = { value: 'startson', ours: today.dates[0]?.differs[0]?.ours, theirs: '2020-01-01' }
  const person = { userid: 'told', serviceid, memberid: 'C-1', benefit: 'accident', differs: [startson] }
  const theirs = { value: 'lastname', ours: '', theirs: ada.firstname }
  const stranger = { userid: '', serviceid: '', memberid: 'C-9', benefit: ada.firstname, differs: [theirs] }
  const none = { missingthere: [], unknownhere: [], dates: [], details: [], twice: [] }
  expect(today).toEqual({ ...none, unknownhere: [stranger], dates: [person] })
  expect(startson.ours).toMatch(/^\d{4}-\d\d-\d\d$/)
  expect((await run(['feed', 'compare', 'seaview', 'list.csv', '--send-again'], place)).stdout).toContain(
    `startson: we say ${startson.ours}, it says 2020-01-01`,
  )
  expect(await feed('run', 'seaview')).toMatchObject({ run: 3, counts: { correct: 1 } })
  expect(await feed('list')).toMatchObject({
    feeds: [
      { feed: 'seaview', lastrun: { run: 3 } },
      { feed: 'coralbay', lastrun: null },
    ],
  })
  // All of these named the person, and nothing of it is found outside ciphertext.
  await checkTables(service.database)
  checkLogs(logs + JSON.stringify(service.logged))
})

test('a run that is held takes no answers, and no pipe gets an empty file without a word', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'feeds-'))
  const env = { DATABASE_URL: urlOf(service.address), ENROLMENT_ROOT_KEY: service.rootKey }
  const place = { cwd: folder, env: { ...env, ENROLMENT_FEEDS: folder } }
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'erased', ...ada, offername: 'starter' })
  const example = await readFile(join(root, 'service/assets/demo-feeds.yaml'), 'utf8')
  const held = example.replace('    format: csv', '    hold: { endspercent: 1 }\n    format: csv')
  await writeFile(join(folder, 'feeds.yaml'), held)
  await run(['feed', 'publish', 'feeds.yaml'], place)
  await run(['feed', 'run', 'seaview'], place)
  const empty = await run(['feed', 'run', 'seaview', '--stdout'], place)
  expect(empty).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('has no lines') })
  await client.eraseUser({ userid: 'erased' })
  const made = JSON.parse((await run(['feed', 'run', 'seaview', '--json'], place)).stdout)
  expect(made).toMatchObject({ status: 'held' })
  await writeFile(join(folder, 'answers.csv'), 'LINE,STATUS,MESSAGE,CERT\n1,OK,,\n')
  const answered = ['feed', 'answer', 'seaview', 'answers.csv', '--run', String(made.run)]
  expect(await runRefused(answered, place)).toMatch(/is held and was not taken.*name one that was taken/)
  expect(await runRefused(['feed', 'run', 'seaview', '--stdout'], place)).toMatch(
    /is held: nothing of it is sent/,
  )
  for (const words of [
    ['feed', 'run', 'seaview'],
    ['feed', 'resend', 'seaview', '1'],
  ])
    expect(await runRefused([...words, '--stdout', '--json'], place)).toMatch(/--stdout or --json, not both/)
})
