import { parseCatalogue } from '../service/src/catalogue/parse.ts'
import { describeProblem } from '../service/src/catalogue/problem.ts'

/** A catalogue of two benefits and an offer, as an operator writes it. */
export const valid = `schema: 1
benefits:
  - name: accident
    displayname: { en: Accident coverage, es: Cobertura por accidentes }
    description: { en: Money after an accident, es: Dinero tras un accidente }
    icon: accident.svg
    benefittype: dollar
    sortorder: 10
    amount: { cents: 1000000 }
    cost: { cents: 0, per: month }
    pays: { en: Up to $10000, es: Hasta $10000 }
    notcovered: { en: Illness, es: Enfermedades }
    rules:
      - code: not_in_ny
        states: { notin: [NY, VT] }
        text: { en: Not in New York, es: No en Nueva York }
  - name: legal
    displayname: { en: Legal helpline, es: Ayuda legal }
    description: { en: A lawyer on the phone, es: Un abogado por teléfono }
    icon: legal.svg
    benefittype: service
    sortorder: 20
    cost: { cents: 0, per: month }
    pays: { en: Calls, es: Llamadas }
    notcovered: { en: Court, es: Tribunales }
offers:
  - offer: starter
    displayname: { en: Starter, es: Inicial }
    description: { en: The first, es: La primera }
    rank: 10
    fixed: [accident]
    selectable: [legal]
    slots: 1
`

/** The problems of the valid catalogue after part of its text was replaced, as the operator reads them. */
export function problemsOf(written: string, instead: string): string[] {
  if (!valid.includes(written)) throw new Error(`not in the catalogue: ${written}`)
  return problemsIn(valid.replace(written, () => instead))
}

/** The problems of a text, as the operator reads them; none if it is accepted. */
export function problemsIn(text: string): string[] {
  const result = parseCatalogue(text)
  return result.ok ? [] : result.problems.map(describeProblem)
}
