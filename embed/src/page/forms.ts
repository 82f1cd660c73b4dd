import { say } from './navigate.ts'
import { priceWho, sumPrices } from './total.ts'

/** Adds to forms what the browser does not do by itself: counting choices, naming a line of the address, printing. */
export function watchForms(): void {
  addEventListener('change', ({ target }) => {
    if (target instanceof HTMLInputElement && target.name === 'benefit') {
      countChoices()
      sumPrices()
    }
    if (target instanceof HTMLInputElement) priceWho(target)
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
  const isOver = chosen > Number(slots)
  count.textContent = `${chosen === 1 ? one : many.replace('99', `${chosen}`)}${isOver ? `. ${full}` : ''}`
  count.classList.toggle('over', isOver)
  say(count.textContent)
}

function nameThirdLine(state: string): void {
  const label = document.querySelector<HTMLElement>('[data-pr]')
  const text = label?.firstChild
  if (text) text.nodeValue = (state === 'PR' ? label.dataset['pr'] : label.dataset['other']) ?? ''
}
