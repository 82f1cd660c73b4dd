import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { BulkAnswer } from '../../client/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService, type TestPartner } from '../rig.ts'
import { urlOf } from './database-url.ts'
import { newDirectory, run } from './process.ts'

// What is wrong with a file of members or with a bulk is answered alike: by the number of its line and a code.

const service = forAllTests(() => startTestService({ clock: 'machine' }))
const directory = forAllTests(async () => {
  const { path, remove } = await newDirectory()
  return { path, close: remove }
})
const forms = ['csv', 'ndjson', 'bulk'] as const
type Form = (typeof forms)[number]

const { firstname, lastname, email, dob, zipcode } = ada
const person = { firstname, lastname, email, dob, zipcode, state: 'FL', offername: 'starter' }
const header = `userid,${Object.keys(person).join()},offersince`

/** A line that is taken. */
function good(form: Form, userid: string): string {
  if (form === 'csv') return [userid, ...Object.values(person), '2024-05-01'].join()
  const member = { userid, ...person }
  return JSON.stringify(
    form === 'bulk'
      ? { operation: 'create', key: userid, body: member }
      : { ...member, offersince: '2024-05-01' },
  )
}

type Fault = readonly [line: number, code: string]

/** The lines that were not taken; those of CSV are counted without the header. */
async function faultsOf(form: Form, partner: TestPartner, bytes: Buffer<ArrayBuffer>): Promise<Fault[]> {
  if (form === 'bulk') {
    const headers = {
      authorization: `Bearer ${await partner.token()}`,
      'x-api-key': partner.apiKey,
      'content-type': 'application/x-ndjson',
    }
    const answer = await fetch(`${service.baseUrl}/user/bulk`, { method: 'POST', headers, body: bytes })
    const lines = (await answer.text()).trim().split('\n')
    return lines
      .map(line => JSON.parse(line) as BulkAnswer)
      .filter(({ status }) => status !== 200)
      .map(({ line, body }) => [line, (body as { code: string }).code])
  }
  const file = join(directory.path, 'members')
  await writeFile(file, bytes)
  const place = {
    cwd: directory.path,
    env: { DATABASE_URL: urlOf(service.address), ENROLMENT_ROOT_KEY: service.rootKey },
  }
  const words = ['import', partner.partnerId, file, '--reason', 'test', '--json']
  const { errors } = JSON.parse((await run(words, place)).stdout) as {
    errors: { line: number; code: string }[]
  }
  return errors.map(({ line, code }) => [form === 'csv' ? line - 1 : line, code])
}

/** What becomes of three lines, about users `a`, `b` and `c`, how each form answers, and who is then not there. */
type Case = {
  readonly fault: string
  readonly damage: (lines: string[], form: Form) => string
  readonly answers: Readonly<Record<Form, Fault[]>>
  readonly refused?: string
}
function second(code: string): Fault[] {
  return [[2, code]]
}
function inSecond(damage: (line: string) => string): Case['damage'] {
  return lines => lines.map((line, at) => (at === 1 ? damage(line) : line)).join('\n')
}

const cases: Case[] = [
  {
    fault: 'a byte order mark',
    damage: lines => `\ufeff${lines.join('\n')}`,
    answers: { csv: [], ndjson: [], bulk: [[1, 'malformed_json']] },
    refused: 'a',
  },
  {
    fault: 'CRLF',
    damage: lines => `${lines.join('\r\n')}\r\n`,
    answers: { csv: [], ndjson: [], bulk: [] },
  },
  {
    fault: 'a quote that never ends',
    damage: (lines, form) =>
      inSecond(line => (form === 'csv' ? 'b,"Ada,King' : line.slice(0, -4)))(lines, form),
    answers: { csv: second('quote'), ndjson: second('malformed_json'), bulk: second('malformed_json') },
  },
  {
    fault: 'a line of 1 MB',
    damage: inSecond(line => line.replace(firstname, 'a'.repeat(1_000_000))),
    answers: { csv: second('too_long'), ndjson: second('too_long'), bulk: second('body_too_large') },
  },
  {
    fault: 'a line in Latin-1',
    damage: inSecond(line => line.replace(firstname, 'Zo\u00eb')),
    answers: { csv: second('encoding'), ndjson: second('malformed_json'), bulk: second('malformed_json') },
  },
  {
    fault: 'a line that is a list',
    damage: inSecond(line => `[${line}]`),
    answers: { csv: second('format'), ndjson: second('type'), bulk: second('bad_request') },
  },
  {
    fault: '20,000 empty lines and an end in the middle of a line',
    damage: lines => lines.join('\n'.repeat(10_001)).slice(0, -12),
    answers: {
      csv: [[20_003, 'columns']],
      ndjson: [[20_003, 'malformed_json']],
      bulk: [[20_003, 'malformed_json']],
    },
    refused: 'c',
  },
]

test.each(cases.flatMap(one => forms.map(form => ({ ...one, form }))))(
  '$fault in $form is answered by its line, and the other lines are taken',
  async given => {
    const { fault, form, damage, answers, refused = 'b' } = given
    const partner = await service.newPartner()
    const lines = ['a', 'b', 'c'].map(userid => good(form, userid))
    const text = damage(lines, form)
    const whole = form === 'csv' ? text.replace(/^(\ufeff?)/, `$1${header}\n`) : text
    const bytes = Buffer.from(whole, fault.includes('Latin-1') ? 'latin1' : 'utf8')
    expect(await faultsOf(form, partner, bytes)).toEqual(answers[form])
    const { users } = await partner.client.listUsers({})
    const taken = ['a', 'b', 'c'].filter(userid => answers[form].length === 0 || userid !== refused)
    expect(users.map(({ userid }) => userid).sort()).toEqual(taken)
  },
)
