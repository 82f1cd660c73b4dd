// Looks of the platform: the same colors paint this page and, as `appearance`, the service's page inside it. The
// service refuses a pair of colors that cannot be read in light or in dark, and names it.

export const looks = {
  harbor: {
    name: 'Harbor blue',
    scheme: 'auto',
    light: { accent: '#0b4f8a', background: '#f3f6fa' },
    dark: { accent: '#8ec5ff', onaccent: '#06213a', background: '#0d1620', surface: '#152130' },
    radius: 14,
  },
  forest: {
    name: 'Forest green',
    scheme: 'auto',
    light: { accent: '#166534', background: '#f2f6f1' },
    dark: { accent: '#86efac', onaccent: '#052e16', background: '#0c1510', surface: '#14211a' },
    radius: 6,
  },
  plum: {
    name: 'Plum',
    scheme: 'auto',
    light: { accent: '#6b21a8', background: '#f8f4fb' },
    dark: { accent: '#d8b4fe', onaccent: '#2e1065', background: '#150f1c', surface: '#21182b' },
    radius: 22,
  },
}

/** Paints this page: the style sheet has rules for each look by its name. */
export function paint(name) {
  document.documentElement.dataset.look = name
}

/** The look in the form of the embed's `appearance`. */
export function appearanceOf(name) {
  const { name: _, ...appearance } = looks[name]
  return appearance
}
