import { say } from './navigate.ts'

/** What a form does beyond what the browser does by itself: counting choices, naming a line, printing. */
export function watchForms(): void {
  addEventListener('change', ({ target }) => {
    if (target instanceof HTMLInputElement && target.name === 'benefit') countChoices()
    if (target instanceof HTMLSelectElement && target.name === 'state') nameThirdLine(target.value)
  })
  addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('[data-print]')) print()
  })
}

function countChoices(): void {
  const count = document.querySelector<HTMLElement>('[data-count]')
  if (!count) return
  const chosen = document.querySelectorAll('input[name=benefit]:checked').length
  const { one = '', many = '', full = '', slots = '0' } = count.dataset
  count.textContent = chosen === 1 ? one : many.replace('99', `${chosen}`)
  say(chosen > Number(slots) ? full : count.textContent)
}

function nameThirdLine(state: string): void {
  const label = document.querySelector<HTMLElement>('[data-pr]')
  const text = label?.firstChild
  if (text) text.nodeValue = (state === 'PR' ? label.dataset['pr'] : label.dataset['other']) ?? ''
}
