// Writes feed files for other programs to read (scripts/check-feeds.sh), each for a number of people, with every kind of line and
// with names that are hard on readers:
//   N.x12, N.csv     of N people, in families of four
//   bad.x12          a few of 10,050 people, members and dependants, in both transaction sets, have an insurance line that the guide does not know
//   node scripts/feeds/write-files.mjs FOLDER
// Afterwards `node scripts/feeds/write-files.mjs FOLDER --read` reads what pyx12 and x12sdk wrote there.
import assert from 'node:assert/strict'
import { createWriteStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { answersOf, readAcknowledgements } from '../../service/dist/feeds/answers-x12.js'
import { formatOf } from '../../service/dist/feeds/file-format.js'
import { openPlaces } from '../../service/dist/feeds/line-places.js'
import { readInsurerList } from '../../service/dist/feeds/read-list.js'

const [folder, ...more] = process.argv.slice(2)
const run = { feed: 'seaview', run: 7, madeAt: Date.UTC(2027, 4, 12), isFull: false }
const actions = ['add', 'change', 'correct', 'end', 'reinstate', 'void']
const relations = ['member', 'spouse', 'child', 'domesticpartner']
const names = ['King', '=SUM(A1)', 'Łukasz', 'O"Hara, Jr', ' Ruiz', "-d'Arc", 'Núñez\nde la Torre', '007']
const parties = { sender: ['ZZ', 'OURS'], receiver: ['FI', '987654321'], sponsor: ['FI', '123456789'] }
const values = ['line', 'action', 'serviceid', 'lastname', 'dob', 'zipcode', 'benefit', 'startson', 'endson']
const csvFeed = {
  feed: 'seaview',
  insurer: 'seaview',
  benefits: ['dental'],
  format: 'csv',
  columns: values.map(value => ({ name: value.toUpperCase(), value })),
}
const x12Feed = {
  ...csvFeed,
  format: 'x12834',
  x12834: { ...parties, lines: { dental: 'DEN', broken: 'XXX' }, tiers: { family: 'FAM' } },
}

function person(index, benefit = 'dental') {
  const action = actions[index % actions.length]
  const erased = index % 50 === 49
  const place = index % relations.length
  const cover = {
    action: erased ? 'end' : action,
    line: String(index + 1),
    serviceid: `0190a0b0-0000-7000-8000-${String(index - place).padStart(12, '0')}`,
    who: relations[place],
    benefit,
    policy: 'GL-1',
    plancode: 'P1',
    startson: '2027-05-12',
    endson: action === 'end' || erased ? '2027-05-31' : '',
  }
  if (erased) return { ...cover, reason: 'erased', memberid: `C${index - place}` }
  const contact = { email: 'a@example.com', phone: '3055550142' }
  const address = { addline1: '12 Main', city: 'Miami', state: 'FL', zipcode: '01234' }
  const lastname = names[index % names.length]
  return {
    ...cover,
    ...contact,
    ...address,
    tier: 'family',
    firstname: 'José',
    lastname,
    dob: '1990-03-27',
    gender: 'X',
  }
}

/** Writes a file of this many people. */
async function write(name, feed, { count, benefitOf = () => 'dental' }) {
  const format = formatOf(feed, run)
  const file = createWriteStream(join(folder, name))
  file.write(format.head())
  for (let index = 0; index < count; index += 1)
    if (!file.write(format.line(person(index, benefitOf(index)))))
      await new Promise(resolve => file.once('drain', resolve))
  await new Promise(resolve => file.end(format.foot(), resolve))
}

const BROKEN = [0, 3, 52, 9999, 10_000, 10_031, 10_049]
const BROKEN_FILE = 10_050
function benefitOf(index) {
  return BROKEN.includes(index) ? 'broken' : 'dental'
}

/** What the 999 that pyx12 wrote of a file says of each of its lines. */
function acknowledged(name, count) {
  const place = openPlaces(x12Feed, run)
  const places = Array.from({ length: count }, (_, index) =>
    place({ line: index + 1, values: person(index, name === 'bad' ? benefitOf(index) : undefined) }),
  )
  const file = readFileSync(join(folder, `${name}.x12.997`), 'latin1')
  return readAcknowledgements(file).flatMap(one => answersOf(one, x12Feed.x12834, places))
}
const COUNTS = [1, 2, 999, 100_000]

if (!more.includes('--read')) {
  for (const count of COUNTS) {
    await write(`${count}.csv`, csvFeed, { count })
    await write(`${count}.x12`, x12Feed, { count })
  }
  await write('bad.x12', x12Feed, { count: BROKEN_FILE, benefitOf })
} else {
  for (const count of COUNTS) {
    const answers = acknowledged(String(count), count)
    assert.deepEqual([answers.length, answers.filter(({ isAccepted }) => !isAccepted)], [count, []])
  }
  process.stdout.write('we read from the 999s of pyx12 that all our people are accepted\n')
  const answers = acknowledged('bad', BROKEN_FILE)
  const named = answers.filter(({ code }) => code.startsWith('IK3')).map(({ line }) => line - 1)
  assert.deepEqual(named, BROKEN)
  assert.ok(answers.every(({ isAccepted }) => !isAccepted))
  process.stdout.write(
    `the 999 of pyx12 names the ${named.length} people of ${BROKEN_FILE} with a wrong line, members and dependants, and nobody else\n`,
  )
  const theirs = readInsurerList(readFileSync(join(folder, 'theirs.x12'), 'utf8'), x12Feed, '2027-06-01')
  const expected = JSON.parse(readFileSync(join(folder, 'theirs.json'), 'utf8'))
  assert.deepEqual(
    theirs.map(({ memberId, startsOn, details }) => [memberId, startsOn, details.lastname, details.dob]),
    expected,
  )
  process.stdout.write(`feed compare reads ${theirs.length} covers of an 834 by x12sdk\n`)
}
