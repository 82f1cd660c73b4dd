import { dayText } from './format.ts'
import { stateName } from './states.ts'
import type { Localized } from './surroundings.ts'

const texts = /^(?:firstname|lastname|email|phone|addline[123]|city|zipcode|person\d+\.(?:name|contact))$/

/** What a person had typed into a form that was not taken, in words, so that they can type it again. */
export function replacedTexts(page: Localized, form: URLSearchParams): readonly string[] {
  const typed = [...form].flatMap(([name, value]) => (texts.test(name) && value.trim() ? [value.trim()] : []))
  const state = form.get('state')
  const parts = ['dobyear', 'dobmonth', 'dobday'].map(name => form.get(name) ?? '')
  const date = parts.map((part, at) => part.padStart(at === 0 ? 4 : 2, '0')).join('-')
  const isDate = parts.every(part => part !== '') && !Number.isNaN(Date.parse(date))
  return [...typed, ...(state ? [stateName(page, state)] : []), ...(isDate ? [dayText(page, date)] : [])]
}
