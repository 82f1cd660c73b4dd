/** How many benefits a catalogue holds at most: a list of benefits is answered whole, without pages. */
export const MAX_BENEFITS = 200

/** How many offers a catalogue holds at most. */
export const MAX_OFFERS = 50
