import { expect, test } from 'vitest'
import { type GivenAnswer, readCsvAnswers } from '../../service/src/feeds/answers-csv.ts'
import { answersOf, readAcknowledgements } from '../../service/src/feeds/answers-x12.ts'
import type { Feed } from '../../service/src/feeds/feed.ts'
import { OperatorError } from '../../service/src/operator-error.ts'
import { timesOf } from '../long.ts'
import { openRandom, type Random, seedsOf } from '../seeds.ts'

// A file of answers is cut, or parts of it are doubled, left out or put elsewhere. What is read of it may be less than was said, or
// nothing, but never the acceptance of what was refused.

const FILES_OF_A_SEED = 1000
const LINES_OF_A_SET = 2
const x12834 = {
  sender: ['ZZ', 'OURS'],
  receiver: ['FI', '987654321'],
  sponsor: ['FI', '123456789'],
  lines: { dental: 'DEN' },
} as const
const feed: Feed = { feed: 'f', insurer: 'f', benefits: ['dental'], format: 'x12834', x12834 }

/** A made-up file in its pieces, and what it says of each line of each run: `7 2` is line 2 of run 7. */
type Made = { readonly pieces: readonly string[]; readonly isAccepted: ReadonlyMap<string, boolean> }

function pick<T>(random: Random, from: readonly [T, ...T[]]): T {
  return from[random(from.length)] ?? from[0]
}

function make999(random: Random): Made {
  const isAccepted = new Map<string, boolean>()
  const answers = Array.from({ length: 1 + random(3) }, (_, index) => 5 + 2 * index)
  const envelopes: string[] = []
  const sets = answers.flatMap((run, index) => {
    const wanted = pick(random, ['A', 'A', 'E', 'P', 'R', 'TA1 A', 'TA1 R'] as const)
    const count = wanted === 'P' ? 2 + random(2) : 1 + random(3)
    const says = (set: number, accepts: boolean) => {
      for (let line = 1; line <= LINES_OF_A_SET; line += 1)
        isAccepted.set(`${run} ${(set - 1) * LINES_OF_A_SET + line}`, accepts)
    }
    if (wanted.startsWith('TA1')) {
      for (let set = 1; set <= count; set += 1) says(set, false)
      envelopes.push(`TA1*${String(run).padStart(9, '0')}*270512*1504*${wanted.slice(4)}*000`)
      return []
    }
    const isWhole = wanted === 'A' && random(2) === 0
    const bodies = Array.from({ length: count }, (_, nth) => {
      const refuses = wanted === 'R' || (wanted === 'P' && nth % 2 === 1)
      says(nth + 1, !refuses)
      if (isWhole) return []
      const noted = refuses || (wanted === 'E' && nth === 0)
      const status = refuses ? 'R' : noted ? 'E' : 'A'
      const faults = noted ? [`IK3*HD*${5 + random(9)}*2300*8`, 'IK4*3*1205*7*XXX'] : []
      return [`AK2*834*000${nth + 1}*005010X220A1`, ...faults, `IK5*${status}${refuses ? '*5' : ''}`]
    })
    const refused = bodies.filter(body => body.at(-1)?.startsWith('IK5*R')).length
    const segments = [
      `ST*999*000${index + 1}*005010X231A1`,
      `AK1*BE*${run}*005010X220A1`,
      ...bodies.flat(),
      `AK9*${wanted}*${count}*${count}*${count - refused}`,
    ]
    return [...segments, `SE*${segments.length + 1}*000${index + 1}`]
  })
  const count = sets.filter(one => one.startsWith('ST')).length
  const group =
    count === 0 ? [] : ['GS*FA*987654321*OURS*20270513*0900*1*X*005010X231A1', ...sets, `GE*${count}*1`]
  const pieces = [
    'ISA*00*          *00*          *30*987654321      *ZZ*OURS           *270513*0900*^*00501*000000001*0*P*:',
    ...envelopes,
    ...group,
    `IEA*${count === 0 ? 0 : 1}*000000001`,
  ]
  return { pieces: pieces.map(piece => `${piece}~\n`), isAccepted }
}

const answers = {
  columns: { line: 'LINE', code: 'STATUS', text: 'MESSAGE', memberid: 'CERT' },
  accepted: ['OK', '1'],
}

function makeCsv(random: Random): Made {
  const order = pick(random, [
    ['LINE', 'STATUS', 'MESSAGE', 'CERT'],
    ['CERT', 'MESSAGE', 'LINE', 'STATUS'],
    ['MESSAGE', 'STATUS', 'CERT', 'LINE'],
  ])
  const isAccepted = new Map<string, boolean>()
  const rows = Array.from({ length: 1 + random(8) }, (_, index) => {
    const code = pick(random, ['OK', 'OKAY BUT', '1', '17', 'NO', '"OK\nNOT"'])
    isAccepted.set(`7 ${index + 1}`, answers.accepted.includes(code))
    const text = pick(random, ['', '"no, such plan"', '"two\nlines, OK"'])
    const cells: Readonly<Record<string, string>> = {
      LINE: String(index + 1),
      STATUS: code,
      MESSAGE: text,
      CERT: '',
    }
    return order.map(name => cells[name]).join(',')
  })
  return { pieces: [order.join(','), ...rows].map(row => `${row}\r\n`), isAccepted }
}

function damaged({ pieces }: Made, random: Random): string {
  const from = random(pieces.length)
  const until = from + 1 + random(4)
  const taken = pieces.slice(from, until)
  const rest = [...pieces.slice(0, from), ...pieces.slice(until)]
  const to = random(rest.length + 1)
  const whole = pieces.join('')
  const ways = [
    () => whole.slice(0, random(whole.length)),
    () => rest.join(''),
    () => [...pieces.slice(0, until), ...taken, ...pieces.slice(until)].join(''),
    () => [...rest.slice(0, to), ...taken, ...rest.slice(to)].join(''),
    () => {
      const other = random(pieces.length)
      return pieces
        .map((one, at) => (at === from ? pieces[other] : at === other ? pieces[from] : one))
        .join('')
    },
  ] as const
  return pick(random, ways)()
}

function read999(text: string, { isAccepted }: Made): GivenAnswer[] {
  return readAcknowledgements(text).flatMap(one => {
    const lines = [...isAccepted.keys()].flatMap(name =>
      name.startsWith(`${one.run} `) ? [Number(name.split(' ')[1])] : [],
    )
    const places = lines.map(line => ({ line, set: Math.ceil(line / LINES_OF_A_SET), first: 5, last: 9 }))
    return answersOf(one, x12834, places)
  })
}

const kinds = {
  '999 and TA1': { make: make999, read: read999 },
  CSV: { make: makeCsv, read: (text: string) => readCsvAnswers(text, { ...feed, answers }) },
} as const

test.each(seedsOf(timesOf(2, 100)))(
  'no refusal is taken for an acceptance, however a file of answers is cut, doubled or put in another order (seed %i)',
  seed => {
    const random = openRandom(seed)
    for (let nth = 0; nth < FILES_OF_A_SEED; nth += 1)
      for (const [kind, { make, read }] of Object.entries(kinds)) {
        const made = make(random)
        expect(
          acceptedWrongly(read(made.pieces.join(''), made), made),
          `${kind}, file ${nth}, whole`,
        ).toEqual([])
        const text = damaged(made, random)
        let given: GivenAnswer[] = []
        try {
          given = read(text, made)
        } catch (error) {
          expect(error, text).toBeInstanceOf(OperatorError)
        }
        // Two answers to one line that do not agree are refused where they are recorded.
        const refused = new Set(given.filter(one => !one.isAccepted).map(one => one.line))
        const taken = kind === 'CSV' ? given.filter(one => !refused.has(one.line)) : given
        expect(acceptedWrongly(taken, made), text).toEqual([])
      }
  },
)

/** Lines that are accepted by what was read, and were refused, or left open, by the file as it was. */
function acceptedWrongly(given: readonly GivenAnswer[], { isAccepted }: Made): string[] {
  return given
    .filter(one => one.isAccepted)
    .map(one => `${one.run ?? 7} ${one.line}`)
    .filter(name => isAccepted.get(name) === false)
}
