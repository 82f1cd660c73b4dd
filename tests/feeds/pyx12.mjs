// Has pyx12 (PyPI, 4.0.0) read an 834 file of ours with every kind of line, and reads the 999 that pyx12 writes about one with a
// wrong insurance line. It is run by hand after a build, where Python is there:
//   python3 -m venv /tmp/x12 && /tmp/x12/bin/pip install pyx12==4.0.0
//   node tests/feeds/pyx12.mjs /tmp/x12/bin/x12valid
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAcknowledgement } from '../../service/dist/feeds/answers-x12.js'
import { formatOf } from '../../service/dist/feeds/file-format.js'

const [validator = 'x12valid'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'x12-'))
const actions = ['add', 'change', 'correct', 'end', 'reinstate', 'void']
const person = {
  serviceid: '0190a0b0-0000-7000-8000-000000000001',
  firstname: 'José',
  lastname: 'Łukasz',
  dob: '1990-03-27',
  gender: 'X',
  email: 'a@example.com',
  phone: '3055550142',
  addline1: '12 Main',
  city: 'Miami',
  state: 'FL',
  zipcode: '33101',
}
const cover = { benefit: 'dental', policy: 'GL-1', plancode: 'P1', startson: '2027-05-12', endson: '' }

function validate(name, code) {
  const parties = { sender: ['ZZ', 'OURS'], receiver: ['FI', '987654321'], sponsor: ['FI', '123456789'] }
  const feed = {
    feed: 'seaview',
    insurer: 'seaview',
    x12834: { ...parties, lines: { dental: code } },
    format: 'x12834',
  }
  const format = formatOf(feed, { feed: 'seaview', run: 7, madeAt: Date.UTC(2027, 4, 12), isFull: false })
  const lines = actions.map(action => ({
    ...person,
    ...cover,
    action,
    endson: action === 'end' ? '2027-05-31' : '',
  }))
  const { serviceid } = person
  const erased = {
    serviceid,
    ...cover,
    memberid: 'C1',
    action: 'end',
    reason: 'erased',
    endson: '2027-05-31',
  }
  const pieces = [format.head(), ...[...lines, erased].map(format.line), format.foot()]
  const path = join(folder, name)
  writeFileSync(path, Buffer.concat(pieces))
  const { stdout, stderr } = spawnSync(validator, [path], { encoding: 'utf8' })
  return { path, said: stdout + stderr }
}

assert.match(validate('good.x12', 'DEN').said, /: OK/)
const bad = validate('bad.x12', 'XXX')
assert.match(bad.said, /not a valid code for Insurance Line Code/)
const { run, isAccepted, sets } = readAcknowledgement(readFileSync(`${bad.path}.997`, 'latin1'))
// ST, BGN and two N1 come first; the eighth segment of a person is the coverage.
assert.deepEqual([run, isAccepted, sets[0].faults.length, sets[0].faults[0].position], [7, false, 7, 13])
process.stdout.write('pyx12 accepts the file, and its 999 names the segment of each wrong line.\n')
