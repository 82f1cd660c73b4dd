import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OperatorError } from '../operator-error.ts'
import { readCsvAnswers } from './answers-csv.ts'
import { readAcknowledgements } from './answers-x12.ts'
import { SOME_DEPENDANT } from './compare-list.ts'
import type { Feed } from './feed.ts'
import { readInsurerList } from './read-list.ts'

const feed: Feed = {
  feed: 'seaview',
  insurer: 'seaview',
  benefits: ['dental'],
  format: 'x12834',
  x12834: {
    sender: ['ZZ', 'OURS'],
    receiver: ['FI', '987654321'],
    sponsor: ['FI', '123456789'],
    lines: { dental: 'DEN' },
  },
  answers: { columns: { line: 'LINE', code: 'STATUS', memberid: 'CERT' }, accepted: ['OK'] },
  list: { columns: { memberid: 'CERT', benefit: 'PLAN', startson: 'FROM', endson: 'TO', lastname: 'LAST' } },
}
const today = '2027-06-01'
const SERVICE_ID = '0190a0b0-0000-7000-8000-000000000001'
const envelope = `ISA*00*          *00*          *30*987654321      *ZZ*OURS           *270513*0900*^*00501*000000001*0*P*:~`
const list834 = [
  `${envelope}GS*BE*A*B*20270513*0900*1*X*005010X220A1~ST*834*0001*005010X220A1~`,
  `INS*Y*18*030*XN*A***AC~REF*0F*${SERVICE_ID}~REF*23*C-1~NM1*IL*1*RUIZ*JOSE~DMG*D8*19900327*M~`,
  'HD*030**VIS~DTP*348*D8*20270401~HD*030**DEN~DTP*348*D8*20270512~DTP*349*D8*20270531~',
  'INS*Y*18*030*XN*A***AC~REF*0F*C-2~NM1*IL*1*KING*ADA****34*123456789~HD*030**DEN~DTP*348*D8*20270501~',
  'SE*16*0001~GE*1*1~IEA*1*000000001~',
].join('\n')

test('an insurer’s 834 gives the covers of the feed’s insurance lines, by our id or by its member number', () => {
  expect(readInsurerList(list834, feed, today)).toEqual([
    {
      serviceId: SERVICE_ID,
      memberId: 'C-1',
      benefit: 'dental',
      person: '',
      startsOn: '2027-05-12',
      endsOn: '2027-05-31',
      details: { lastname: 'RUIZ', firstname: 'JOSE', dob: '1990-03-27' },
    },
    {
      serviceId: '',
      memberId: 'C-2',
      benefit: 'dental',
      person: '',
      startsOn: '2027-05-01',
      endsOn: '',
      details: { lastname: 'KING', firstname: 'ADA' },
    },
  ])
})

test('a dependant whom a list has by something else than our id is some dependant, found by name and birth date', () => {
  const columns = { ...feed.list?.columns, dependantid: 'DEP' }
  const rows = ['', SERVICE_ID.toUpperCase(), 'Ada King'].map(dependant => `C-1,dental,,,,${dependant}`)
  const covers = readInsurerList(
    `CERT,PLAN,FROM,TO,LAST,DEP\n${rows.join('\n')}\n`,
    { ...feed, list: { columns } },
    today,
  )
  expect(covers.map(({ person }) => person)).toEqual(['', SERVICE_ID, SOME_DEPENDANT])
})

const readers: Readonly<Record<string, readonly [file: string, read: (text: string) => unknown]>> = {
  answers: ['LINE,STATUS,CERT\r\n1,OK,C-1\r\n2,"NO",canary\r\n', text => readCsvAnswers(text, feed)],
  'a 999': [
    `${envelope}GS*FA*987654321*OURS*20270513*0900*1*X*005010X231A1~ST*999*0001~AK1*BE*7~AK2*834*0001~IK3*HD*115**8~IK5*R*5~AK9*R*1*1*0~SE*7*0001~GE*1*1~IEA*1*000000001~`,
    readAcknowledgements,
  ],
  'a TA1': [`${envelope}TA1*000000007*270512*1504*R*000~IEA*0*000000001~`, readAcknowledgements],
  'a list': [
    'CERT,PLAN,FROM,TO,LAST\nC-1,dental,2027-05-12,,canary\n',
    text => readInsurerList(text, feed, today),
  ],
  'a list in X12': [list834.replace('RUIZ', 'canary'), text => readInsurerList(text, feed, today)],
}

test.each(Object.entries(readers))(
  'of %s, however damaged, either something is read or its fault is told without a value',
  (_, [file, read]) => {
    read(file)
    const bit = fc.constantFrom('', '"', ',', '\n', '\r', '*', '~', '\0', 'ISA', 'IK3', '٣', '9'.repeat(40))
    const damages = fc.array(fc.tuple(fc.nat(file.length), fc.nat(60), bit), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(damages, places => {
        const damaged = places.reduce(
          (text, [at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut),
          file,
        )
        try {
          read(damaged)
        } catch (error) {
          expect(error).toBeInstanceOf(OperatorError)
          expect(String(error)).not.toContain('canary')
        }
      }),
      { numRuns: 300 },
    )
  },
)
