import { expect, test } from 'vitest'
import { compareLists, type ListedCover, SOME_DEPENDANT } from './compare-list.ts'
import type { Feed } from './feed.ts'
import { readInsurerList } from './read-list.ts'

function cover(more: Partial<ListedCover>): ListedCover {
  const details = { firstname: 'José', lastname: 'Ruiz', dob: '1990-03-27' }
  return {
    serviceId: 's1',
    memberId: '',
    benefit: 'art',
    startsOn: '2027-05-01',
    endsOn: '',
    details,
    ...more,
  } as ListedCover
}
const today = '2027-06-01'
function isOver(endsOn: ListedCover['endsOn']): boolean {
  return !!endsOn && endsOn < today
}
function kindsOf(here: readonly ListedCover[], there: readonly ListedCover[]): string[] {
  return Object.entries(compareLists(here, there, isOver)).flatMap(([kind, list]) =>
    list.map(one => `${kind} ${one.serviceid}`),
  )
}

test('two lists that say the same differ in nothing, though one writes plain capitals and leaves columns out', () => {
  const theirs = { firstname: 'JOSE', lastname: 'RUIZ', dob: '' }
  expect(kindsOf([cover({})], [cover({ benefit: '', details: theirs, endsOn: undefined })])).toEqual([])
})

test('of a family the one is meant whom the dependantid names, else first name and birth date', () => {
  const child = { person: 'd1', details: { firstname: 'Tim', lastname: 'Ruiz', dob: '2019-05-04' } }
  const family = [cover({ memberId: 'C1', person: '' }), cover({ memberId: 'C1', ...child })]
  const row = (more: Partial<ListedCover>) => cover({ serviceId: '', memberId: 'C1', ...more })
  const theirs = { lastname: '', dob: '' }
  const named = [
    row({ details: { ...theirs, firstname: 'TIM' } }),
    row({ details: { ...theirs, firstname: 'José' } }),
  ]
  expect(kindsOf(family, named)).toEqual([])
  const ofIds = [row({ person: '' }), row({ ...child, details: { lastname: 'Roiz' } })]
  expect(kindsOf(family, ofIds)).toEqual(['details s1'])
  expect(compareLists(family, ofIds, isOver).details).toMatchObject([{ dependantid: 'd1' }])
  const stranger = { details: { ...theirs, firstname: 'Tom' } }
  expect(kindsOf(family, [...named, row(stranger)])).toEqual(['unknownhere '])
  expect(kindsOf(family.slice(0, 1), [row({ person: SOME_DEPENDANT, ...stranger })])).toEqual([
    'missingthere s1',
    'unknownhere ',
  ])
})

test('of twins, whom a list without first names cannot tell apart, each has a row of their own', () => {
  const born = { dob: '2019-05-05' }
  const twin = (person: string, more: Partial<ListedCover> = {}) => cover({ person, details: born, ...more })
  const row = (more: Partial<ListedCover> = {}) => cover({ details: born, ...more })
  const twins = [cover({ person: '' }), twin('d1'), twin('d2')]
  const member = cover({})
  expect(kindsOf(twins, [member, row(), row()])).toEqual([])
  expect(kindsOf(twins, [member, row(), row({ startsOn: '2027-04-01' })])).toEqual(['dates s1'])
  expect(kindsOf(twins, [member, row(), row(), row()])).toEqual(['twice s1'])
  const back = [
    cover({ person: '' }),
    twin('d1', { endsOn: '2027-05-09' }),
    twin('d2', { startsOn: '2027-05-20' }),
  ]
  expect(kindsOf(back, [member, row({ startsOn: '' })])).toEqual([])
  const periods = [...twins, twin('d1', { startsOn: '2027-05-20' })]
  expect(kindsOf(periods, [member, row(), row({ startsOn: '2027-05-20' }), row()])).toEqual([])
})

test('each difference has its kind, and a row is found by our id or by the member number', () => {
  expect(kindsOf([cover({ memberId: 'C1' })], [])).toEqual(['missingthere s1'])
  expect(kindsOf([], [cover({ serviceId: '', memberId: 'C9' })])).toEqual(['unknownhere '])
  expect(
    kindsOf([cover({ memberId: 'C1' })], [cover({ serviceId: '', memberId: 'C1', endsOn: '2027-09-30' })]),
  ).toEqual(['dates s1'])
  expect(kindsOf([cover({})], [cover({ details: { lastname: 'Roiz' } })])).toEqual(['details s1'])
  expect(kindsOf([cover({})], [cover({}), cover({})])).toEqual(['twice s1'])
})

test('what differs is named with both sides, and of who is on one side alone all that is said', () => {
  const differs = (here: readonly ListedCover[], there: readonly ListedCover[]) =>
    Object.values(compareLists(here, there, isOver)).flatMap(list => list.flatMap(one => one.differs))
  const start = { value: 'startson', ours: '2027-05-01', theirs: '2027-04-01' }
  expect(differs([cover({})], [cover({ startsOn: '2027-04-01', endsOn: undefined })])).toEqual([start])
  expect(
    differs([cover({ details: { lastname: 'King' } })], [cover({ details: { lastname: 'Ruiz' } })]),
  ).toEqual([{ value: 'lastname', ours: 'King', theirs: 'Ruiz' }])
  const stranger = cover({ serviceId: '', memberId: 'C9', details: { lastname: 'Ruiz' } })
  expect(differs([], [stranger])).toEqual([
    { value: 'startson', ours: '', theirs: '2027-05-01' },
    { value: 'lastname', ours: '', theirs: 'Ruiz' },
  ])
})

test('who is over there or here is missing nowhere', () => {
  expect(kindsOf([cover({ endsOn: '2027-05-31' })], [])).toEqual([])
  expect(kindsOf([], [cover({ endsOn: '2027-05-31' })])).toEqual([])
})

test('an insurer’s list is read by the names, codes and dates of the feed; what is wrong is told by its line, never by its value', () => {
  const feed = {
    feed: 'seaview',
    csv: { delimiter: ';', dates: 'MM/DD/YYYY' },
    columns: [{ name: 'PLAN', value: 'benefit', codes: { art: 'A1' } }],
    list: { columns: { memberid: 'CERT', benefit: 'PLAN', startson: 'FROM', lastname: 'LAST' } },
  } as unknown as Feed
  expect(readInsurerList('CERT;PLAN;FROM;LAST\nC1;A1;05/01/2027;RUIZ\n', feed, today)).toMatchObject([
    {
      memberId: 'C1',
      benefit: 'art',
      startsOn: '2027-05-01',
      endsOn: undefined,
      details: { lastname: 'RUIZ' },
    },
  ])
  expect(() => readInsurerList('CERT;PLAN;FROM\n', feed, today)).toThrow('lacks LAST')
  expect(() => readInsurerList('CERT;PLAN;FROM;LAST\nC1;A1;canary;RUIZ\n', feed, today)).toThrow(
    /^Line 2 of the list: FROM is no date of the form MM\/DD\/YYYY\.$/,
  )
})

test('a date of the list has the form of the feed’s column of that value, and a birth date of two digits is in no future', () => {
  const feed = {
    feed: 'seaview',
    csv: { dates: 'MM/DD/YY' },
    columns: [{ name: 'BORN', value: 'dob', form: 'DD.MM.YY' }],
    list: { columns: { memberid: 'CERT', startson: 'FROM', dob: 'BORN' } },
  } as unknown as Feed
  const rows = ['27.03.85', '02.06.27', '01.06.27', '1985-03-27'].map(born => `C1,05/01/30,${born}\n`)
  const covers = readInsurerList(`CERT,FROM,BORN\n${rows.join('')}`, feed, today)
  expect(covers.map(({ startsOn }) => startsOn)).toEqual(covers.map(() => '2030-05-01'))
  expect(covers.map(({ details }) => details['dob'])).toEqual([
    ...['1985-03-27', '1927-06-02', '2027-06-01', '1985-03-27'],
  ])
})
