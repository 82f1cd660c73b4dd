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
  const boxes = [...document.querySelectorAll<HTMLElement>('input[name=benefit]:checked,[data-included]')]
  const parts = spans.flatMap(span => {
    const own = boxes.filter(box => box.dataset['per'] === span)
    const cents = own.reduce((sum, box) => sum + Number(box.dataset['cents']), Number(dataset[span]))
    return cents > 0 ? [(dataset[words[span]] ?? '').replace('0', () => money.format(cents / 100))] : []
  })
  shown.textContent = parts.join(dataset['and']) || (dataset['free'] ?? '')
}

/** Gives a benefit the price of the people who are ticked: the prices stand in the order of the sums of their bits. */
export function priceWho(box: HTMLInputElement): void {
  const who = box.closest<HTMLElement>('[data-prices]')
  if (!who) return
  const { of, prices = '', per } = who.dataset
  const ticked = [...who.querySelectorAll<HTMLElement>(':checked')]
  const bits = ticked.reduce((sum, { dataset }) => sum | Number(dataset['bit']), 0)
  const priced = document.querySelector<HTMLElement>(`input[name=benefit][value="${of}"]`) ?? who
  Object.assign(priced.dataset, { cents: prices.split(' ')[bits], per })
  sumPrices()
}
