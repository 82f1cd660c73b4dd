import { expect, test } from 'vitest'
import { compareLists, type ListedCover } from './compare-list.ts'

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
function isOver(endsOn: ListedCover['endsOn']): boolean {
  return !!endsOn && endsOn < '2027-06-01'
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

test('each difference has its kind, and a row is found by our id or by the member number', () => {
  expect(kindsOf([cover({ memberId: 'C1' })], [])).toEqual(['missingthere s1'])
  expect(kindsOf([], [cover({ serviceId: '', memberId: 'C9' })])).toEqual(['unknownhere '])
  expect(
    kindsOf([cover({ memberId: 'C1' })], [cover({ serviceId: '', memberId: 'C1', endsOn: '2027-09-30' })]),
  ).toEqual(['dates s1'])
  expect(kindsOf([cover({})], [cover({ details: { lastname: 'Roiz' } })])).toEqual(['details s1'])
  expect(kindsOf([cover({})], [cover({}), cover({})])).toEqual(['twice s1'])
})

test('who is over there or here is missing nowhere', () => {
  expect(kindsOf([cover({ endsOn: '2027-05-31' })], [])).toEqual([])
  expect(kindsOf([], [cover({ endsOn: '2027-05-31' })])).toEqual([])
})
