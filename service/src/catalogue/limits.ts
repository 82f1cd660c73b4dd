/** How many benefits a catalogue holds at most: a list of benefits is answered whole, without pages. */
export const MAX_BENEFITS = 200

/** How many offers a catalogue holds at most. */
export const MAX_OFFERS = 50

/** The largest sum that a catalogue can name, in cents. */
export const MAX_CENTS = 1_000_000_000

/** How many documents a benefit brings at most. */
export const MAX_DOCUMENTS = 100
