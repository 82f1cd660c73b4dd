import { html, type Slot } from '../../http/html.ts'
import type { InputName } from './faults.ts'
import { type Answers, described, errorOf, fault, inputId } from './fields.ts'
import type { ConsentText } from './parts.ts'
import { sayIn } from './say.ts'

/** The consents: each with its whole text and version at the box, and never ticked beforehand. */
export function consentFields(answers: Answers, consents: readonly ConsentText[]): Slot {
  if (consents.length === 0) return null
  const say = sayIn(answers.page)

  const fields = consents.map(consent => {
    const input: InputName = `consent.${consent.name}`
    const id = inputId(input)
    const error = errorOf(answers, input)
    return html`<div class="consent field${error && ' wrong'}">
<h3 id="${id}-title">${consent.title}</h3>
<div class="text" tabindex="0" role="region" aria-labelledby="${id}-title">${consent.paragraphs.map(
      text => html`<p>${text}</p>`,
    )}<p class="version">${say`Version ${consent.version}`}</p></div>
${fault(answers, id, error)}
<label class="choice"><input type="checkbox" id="${id}" name="${input}" value="${consent.version}"${
      consent.checked && html` checked`
    }${described(`${id}`, false, error !== undefined)}><span>${
      consent.agree ?? say`I have read this and I agree`
    }<span class="unseen">: ${consent.title}</span></span></label>
</div>`
  })
  return [html`<h2>${say`Your agreement`}</h2>`, fields]
}
