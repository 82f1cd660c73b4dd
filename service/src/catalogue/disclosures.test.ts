import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readWholeCatalogue } from './bring-files.ts'
import { iconPathOf } from './file-paths.ts'
import { withoutHowToUse } from './how-to-use.ts'
import { type Benefit, howToUse } from './model.ts'
import { describeProblem } from './problem.ts'

const pdf = Buffer.from('%PDF-1.4\nmade for a test')
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalogue-'))
  await writeFile(join(folder, 'terms.pdf'), pdf)
  await writeFile(join(folder, 'own.png'), png)
  await writeFile(join(folder, 'picture.pdf'), png)
  await writeFile(join(folder, 'large.png'), withChunk(64 * 1024))
})
afterAll(() => rm(folder, { recursive: true }))

/** A catalogue of one benefit with these lines in it. */
function withLines(lines: string, icon = 'legal.svg', cost = '{ cents: 0, per: month }') {
  return `schema: 1
benefits:
  - name: legal
    displayname: { en: Legal helpline, es: Ayuda legal }
    description: { en: A lawyer on the phone, es: Un abogado por teléfono }
    icon: ${icon}
    benefittype: service
    sortorder: 20
    cost: ${cost}
    pays: { en: Calls, es: Llamadas }
    notcovered: { en: Court, es: Tribunales }
${lines}
offers:
  - offer: starter
    displayname: { en: Starter, es: Inicial }
    description: { en: The first, es: La primera }
    rank: 10
    fixed: [legal]
    selectable: []
    slots: 0
`
}

const insurer = '    insurer: { name: Seaview Mutual, licence: { en: NAIC 00000, es: NAIC 00000 } }'
function document(file: string, rest = '') {
  return `    documents: [{ title: { en: Terms, es: Condiciones }, language: en, file: ${file}${rest} }]`
}

async function problemsIn(text: string): Promise<string[]> {
  const read = await readWholeCatalogue(text, folder)
  return read.ok ? [] : read.problems.map(describeProblem)
}

async function benefitIn(text: string): Promise<Benefit> {
  const read = await readWholeCatalogue(text, folder)
  const benefit = read.ok ? read.catalogue.benefits.get('legal') : undefined
  if (!benefit) throw new Error(JSON.stringify(read))
  return benefit
}

describe('what an insurer must show', () => {
  test('is kept as it was written, and files by the hash of their bytes', async () => {
    const lines = [
      insurer,
      document('terms.pdf', ', states: { in: [NY, FL] }'),
      '    waitingperiod: { days: 30, text: { en: Not paid, es: No se paga } }',
    ].join('\n')
    const cost =
      '{ cents: 1900, per: week, taken: { by: insurer, how: { en: by card, es: con su tarjeta } } }'
    expect(await benefitIn(withLines(lines, 'legal.svg', cost))).toMatchObject({
      insurer: { name: 'Seaview Mutual', licence: { en: 'NAIC 00000', es: 'NAIC 00000' } },
      documents: [
        {
          title: { en: 'Terms', es: 'Condiciones' },
          language: 'en',
          file: expect.stringMatching(/^[0-9a-f]{64}\/terms\.pdf$/),
          states: { in: ['FL', 'NY'] },
        },
      ],
      waitingperiod: { days: 30, text: { en: 'Not paid', es: 'No se paga' } },
      cost: {
        cents: 1900,
        per: 'week',
        taken: { by: 'insurer', how: { en: 'by card', es: 'con su tarjeta' } },
      },
    })
  })

  const taken = 'taken: { by: insurer, how: { en: by card, es: con su tarjeta } }'
  test.each([
    [insurer, `{ cents: 0, per: month, ${taken} }`, 'belongs to a benefit that costs something; delete it'],
    ['', `{ cents: 5, per: month, ${taken} }`, 'needs an insurer; add one to the benefit'],
    ['', '{ cents: 5, per: day }', '"day" is not allowed here; use one of week, month'],
    ['    waitingperiod: { days: 0 }', undefined, 'must be a whole number; write one from 1 to 3650'],
    [
      '    insurer: { name: Seaview }',
      undefined,
      'licence is missing; add the line that its license requires',
    ],
    [document('https://example.com/terms.pdf'), undefined, 'is not a PDF beside this catalogue'],
    [document('../terms.pdf'), undefined, 'is not a PDF beside this catalogue'],
    [document('/etc/terms.pdf'), undefined, 'is not a PDF beside this catalogue'],
    [document('terms.pdf', ', states: { in: [XX] }'), undefined, '"XX" is not a USPS state code'],
    [
      `${document('terms.pdf').slice(0, -1)}, { title: { en: Terms, es: Otro }, language: en, file: terms.pdf }]`,
      undefined,
      'has the title, language and states of an earlier one',
    ],
  ])('%s with the cost %s is refused: %s', async (lines, cost, problem) => {
    const problems = await problemsIn(withLines(lines, 'legal.svg', cost))
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })
})

describe('how it is used', () => {
  const insurers = `insurers:
  - insurer: seaview
    name: Seaview Mutual
    licence: { en: NAIC 00000, es: NAIC 00000 }
    howtouse: { text: { en: Call us, es: Llámenos }, phone: 1-800-555-0142, within: { days: 90 } }
`
  const named = `${withLines('    insurer: seaview')}${insurers}`

  test('is told by the benefit, else by its insurer, which a benefit names by its code', async () => {
    const benefit = await benefitIn(named)
    expect(benefit.insurer).toMatchObject({ insurer: 'seaview', name: 'Seaview Mutual' })
    expect(howToUse(benefit)).toMatchObject({ text: { en: 'Call us' }, within: { days: 90 } })
    const own = '    howtouse: { text: { en: Write, es: Escriba }, email: help@example.com }\n'
    expect(howToUse(await benefitIn(named.replace('offers:', `${own}offers:`)))).toMatchObject({
      email: 'help@example.com',
    })
  })

  test('is missing with a warning where nobody tells it', async () => {
    const warnings = async (text: string) => {
      const read = await readWholeCatalogue(text, folder)
      return read.ok ? withoutHowToUse(read).map(describeProblem) : read.problems
    }
    expect(await warnings(named)).toEqual([])
    expect(await warnings(withLines(insurer))).toEqual([
      'line 3: benefits[0]: nobody is told how to use it; add howtouse to it or to its insurer',
    ])
  })
})

describe('files', () => {
  test('that are missing are refused with line and path', async () => {
    expect(await problemsIn(withLines(document('absent.pdf')))).toEqual([
      'line 12: benefits[0].documents[0].file: the file "absent.pdf" cannot be read (ENOENT); put it beside the catalogue or correct the path',
    ])
  })

  test('that are not what their names say are refused by their first bytes', async () => {
    expect(await problemsIn(withLines(document('picture.pdf')))).toEqual([
      expect.stringContaining(
        'the file "picture.pdf" is not a PDF file, judging by its first bytes; export it again',
      ),
    ])
  })

  test('that are too large are refused', async () => {
    expect(await problemsIn(withLines('', 'large.png'))).toEqual([
      expect.stringMatching(/the file "large\.png" has \d+ bytes; make it smaller, 65536 at most/),
    ])
  })

  test('are brought once, however often they are named', async () => {
    const lines = `    documents:
      - { title: { en: Terms, es: Condiciones }, language: en, file: terms.pdf }
      - { title: { en: Terms, es: Condiciones }, language: es, file: terms.pdf }`
    const read = await readWholeCatalogue(withLines(lines, 'own.png'), folder)
    expect(read.ok && read.brought.map(({ mediaType }) => mediaType)).toEqual([
      'image/png',
      'application/pdf',
    ])
  })
})

describe('an icon', () => {
  test('that nobody serves is refused, and those that ship are named', async () => {
    expect(await problemsIn(withLines('', 'dragon.svg'))).toEqual([
      expect.stringMatching(
        /benefits\[0\]\.icon: nobody serves the icon "dragon\.svg"; use one of accident\.svg, /,
      ),
    ])
  })

  test('of the catalogue is served as a file, one that ships by its name', async () => {
    expect(iconPathOf(await benefitIn(withLines('', 'own.png')))).toMatch(/^files\/[0-9a-f]{64}\/own\.png$/)
    expect(iconPathOf(await benefitIn(withLines('')))).toBe('icons/legal.svg')
  })
})

/** The picture with one more chunk of this length before its end. */
function withChunk(length: number): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(length)
  head.write('teSt', 4)
  return Buffer.concat([png.subarray(0, -12), head, Buffer.alloc(length + 4), png.subarray(-12)])
}
