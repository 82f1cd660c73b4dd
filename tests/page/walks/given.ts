import { ageRule, catalogueOf, stateRule } from '../../api/catalogue-of.ts'
import { demoCatalogue } from '../../rig.ts'
import { recordsAgreed } from '../visitor.ts'

const dental = { name: 'dental', displayname: 'Dental' }
const legal = { name: 'legal', displayname: 'Legal' }
const picks = { selectable: ['dental', 'vision', 'legal'], slots: 3 }
const consent = { version: '1', text: { en: 'I agree.', es: 'Acepto.' } }
const tiers = [
  { tier: 'me', who: [], cost: { cents: 2000, per: 'month' } },
  { tier: 'mespouse', who: ['spouse'], cost: { cents: 4500, per: 'month' } },
  { tier: 'mechildren', who: ['child'], cost: { cents: 5200, per: 'month' } },
  { tier: 'family', who: ['spouse', 'child'], cost: { cents: 6500, per: 'month' } },
]
const covers = { spouse: {}, domesticpartner: {}, child: { maxage: 26, most: 2 } }
const required = { beneficiaries: 'required' } as const

/** The catalogues that walks publish by their names. */
export const catalogues: Readonly<Record<string, string>> = {
  demo: demoCatalogue,
  dearer: demoCatalogue.replace('cents: 650', 'cents: 750'),
  renamed: demoCatalogue.replace('Dental discount', 'Dental rebate'),
  bare: demoCatalogue.replace(
    'fixed: [accident]\n    selectable: [telehealth,',
    'fixed: []\n    selectable: [critical,',
  ),
  // Vision and a plan are for Florida alone.
  coast: catalogueOf(
    [
      dental,
      { name: 'vision', displayname: 'Vision', rules: [stateRule('vision_fl', { in: ['FL'] })] },
      legal,
    ],
    [
      { offer: 'small', rank: 1, ...picks },
      { offer: 'coast', rank: 2, ...picks, rules: [stateRule('coast_only', { in: ['FL'] })] },
      { offer: 'grand', rank: 3, fixed: ['legal'], selectable: ['dental', 'vision'], slots: 2 },
    ],
  ),
  closed: catalogueOf(
    [dental],
    [{ offer: 'small', rank: 1, fixed: ['dental'], slots: 0, availability: { until: '2027-01-31' } }],
  ),
  young: catalogueOf(
    [
      dental,
      { name: 'vision', displayname: 'Vision', endsatage: 26, rules: [ageRule('young', { max: 25 })] },
    ],
    [{ offer: 'small', rank: 1, selectable: ['dental', 'vision'], slots: 2 }],
  ),
  // What the small plan has ends at an age, and the grand one does not have it.
  ageing: catalogueOf(
    [{ ...dental, endsatage: 70, rules: [ageRule('up_to_64', { max: 64 })] }, legal],
    [
      { offer: 'small', rank: 1, selectable: ['dental'], slots: 1 },
      { offer: 'grand', rank: 2, fixed: ['legal'] },
    ],
  ),
  naming: catalogueOf(
    [
      { name: 'life', displayname: 'Life', ...required },
      {
        ...{ name: 'young', displayname: 'Young', ...required },
        ...{ endsatage: 26, rules: [ageRule('under_26', { max: 25 })] },
      },
      { ...legal, consent },
      dental,
    ],
    [
      { offer: 'small', rank: 1, selectable: ['dental'], slots: 1 },
      { offer: 'middle', rank: 2, selectable: ['life', 'young', 'legal', 'dental'], slots: 3 },
      { offer: 'grand', rank: 3, fixed: ['dental'] },
    ],
  ),
  full: catalogueOf(
    ['one', 'two', 'three'].map(name => ({ name })),
    [{ offer: 'only', rank: 1, selectable: ['one', 'two', 'three'], slots: 1 }],
  ),
  life: catalogueOf(
    [
      { name: 'life', displayname: 'Term life', sortorder: 5, ...required, consent },
      { name: 'income', displayname: 'Income', beneficiaries: 'optional' },
      dental,
    ],
    [
      { offer: 'starter', rank: 1, fixed: ['life'], selectable: ['income', 'dental'], slots: 2 },
      { offer: 'small', rank: 2, selectable: ['dental', 'life'], slots: 1 },
      { offer: 'grand', rank: 3, fixed: ['life'], selectable: ['income', 'dental'], slots: 2 },
    ],
  ),
  family: catalogueOf(
    [
      { ...dental, covers, tiers, consent, sortorder: 1 },
      {
        ...{ name: 'kids', displayname: 'Kids', covers: { child: { maxage: 12 } } },
        tiers: tiers.filter(({ tier }) => ['me', 'mechildren'].includes(tier)),
      },
      { name: 'gym', displayname: 'Gym' },
      { name: 'vision', displayname: 'Vision', covers, tiers },
    ],
    [{ offer: 'starter', rank: 1, fixed: ['vision'], selectable: ['dental', 'kids', 'gym'], slots: 2 }],
  ),
}

/** Somebody's wife and child, as they are named in a family or as a beneficiary. */
const born = { 'person1.lastname': 'Canary', 'person1.dobmonth': '5', 'person1.dobday': '4' }
const wife = { 'person1.relationship': 'spouse' }

/** The fields of forms that steps call by a name. */
export const forms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rightdate: { dobmonth: '3', dobday: '27', dobyear: '1990' },
  wrongdate: { dobmonth: '1', dobday: '1', dobyear: '1990' },
  agreed: recordsAgreed,
  grace: { ...born, ...wife, 'person1.firstname': 'Grace', 'person1.dobyear': '1988' },
  tom: {
    ...{ ...born, 'person1.relationship': 'child' },
    ...{ 'person1.firstname': 'Tom', 'person1.dobyear': '2010' },
  },
  heir: { rows: '1', ...wife, 'person1.name': 'Grace', 'person1.share': '100', 'person1.kind': 'primary' },
}
