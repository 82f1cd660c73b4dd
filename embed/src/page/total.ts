const spans = ['month', 'week', 'once'] as const
const words = { month: 'monthly', week: 'weekly', once: 'single' } as const

/** Adds up what the chosen benefits cost, in words that the page brought along. */
export function sumPrices(): void {
  const total = document.querySelector<HTMLElement>('[data-total]')
  const shown = total?.querySelector('strong')
  if (!total || !shown) return
  const { dataset } = total
  const money = new Intl.NumberFormat(`${document.documentElement.lang}-US`, {
    style: 'currency',
    currency: 'USD',
  })
  const boxes = [...document.querySelectorAll<HTMLInputElement>('input[name=benefit]:checked')]
  const parts = spans.flatMap(span => {
    const own = boxes.filter(box => box.dataset['per'] === span)
    const cents = own.reduce((sum, box) => sum + Number(box.dataset['cents']), Number(dataset[span]))
    return cents > 0 ? [(dataset[words[span]] ?? '').replace('0', () => money.format(cents / 100))] : []
  })
  shown.textContent = parts.join(dataset['and']) || (dataset['free'] ?? '')
}
