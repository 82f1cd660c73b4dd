import { type Html, html } from '../../http/html.ts'

/** The page's own signs, in the color of the text beside them, which says the same in words. */
export type IconName = keyof typeof paths

/** A large sign above the heading of a view that reports how something ended. */
export function emblem(name: IconName): Html {
  return html`<p class="emblem" aria-hidden="true">${icon(name)}</p>`
}

/** A sign that screen readers skip. */
export function icon(name: IconName): Html {
  const path = html`<path d="${paths[name]}"/>`
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">${path}</svg>`
}

const paths = {
  check: 'M5 12.5l4.5 4.5L19 7.5',
  plus: 'M12 5v14M5 12h14',
  clock: 'M12 7v5l3.5 2M12 21a9 9 0 100-18 9 9 0 000 18z',
  swap: 'M4 8h14l-3.5-3.5M20 16H6l3.5 3.5',
  alert:
    'M12 8v5M12 16.5v.01M10.6 4L3 17.6A1.6 1.6 0 004.4 20h15.2a1.6 1.6 0 001.4-2.4L13.4 4a1.6 1.6 0 00-2.8 0z',
  no: 'M6 6l12 12M12 21a9 9 0 100-18 9 9 0 000 18z',
  info: 'M12 11v6M12 7.5v.01M12 21a9 9 0 100-18 9 9 0 000 18z',
  back: 'M14.5 5.5L8 12l6.5 6.5',
  arrow: 'M5 12h14M13 6l6 6-6 6',
  undo: 'M9 14L4 9l5-5M4 9h10a6 6 0 010 12h-3',
  list: 'M8 6h12M8 12h12M8 18h12M4 6v.01M4 12v.01M4 18v.01',
  globe:
    'M12 21a9 9 0 100-18 9 9 0 000 18zM3 12h18M12 3c2.5 2.6 3.7 5.6 3.7 9s-1.2 6.4-3.7 9c-2.5-2.6-3.7-5.6-3.7-9S9.500 5.600 12 3z',
  lock: 'M7 11V8a5 5 0 0110 0v3M6 11h12a1 1 0 011 1v7a1 1 0 01-1 1H6a1 1 0 01-1-1v-7a1 1 0 011-1z',
  minus: 'M5 12h14',
  shield:
    'M12 3l7.500 2.800v5.700c0 4.600-3.100 7.800-7.500 9.500-4.400-1.700-7.500-4.900-7.500-9.500V5.800zM8.700 11.800l2.400 2.400 4.300-4.700',
  person: 'M12 12a4 4 0 100-8 4 4 0 000 8zM4.500 20a7.500 7.500 0 0115 0',
  plan: 'M12 4l8.500 4.500L12 13 3.500 8.500zM4 12.500l8 4.300 8-4.300M4 16.200l8 4.300 8-4.300',
  edit: 'M4 20l1-4.200L16 4.800a1.700 1.700 0 012.400 0l.8.8a1.700 1.700 0 010 2.400L8.200 19zM14 7l3 3',
}
