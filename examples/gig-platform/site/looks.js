// Looks of the platform, which paint this page alone: the service's page inside it wears the look that the operator set.

export const looks = {
  harbor: { name: 'Harbor blue' },
  forest: { name: 'Forest green' },
  plum: { name: 'Plum' },
}

/** Paints this page: the style sheet has rules for each look by its name. */
export function paint(name) {
  document.documentElement.dataset.look = name
}
