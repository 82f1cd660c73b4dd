import type { Zone } from '../../calendar/calendar.ts'

/** The zone in which most people of a state or territory live; `undefined` for any other text. */
export function zoneOfState(state: string | undefined): Zone | undefined {
  return state === undefined ? undefined : zones.get(state.toUpperCase())
}

const states: Readonly<Record<Zone, string>> = {
  'America/New_York': 'CT DE DC FL GA IN KY MA MD ME MI NC NH NJ NY OH PA RI SC VA VT WV',
  'America/Chicago': 'AL AR IA IL KS LA MN MO MS ND NE OK SD TN TX WI',
  'America/Denver': 'CO ID MT NM UT WY',
  'America/Phoenix': 'AZ',
  'America/Los_Angeles': 'CA NV OR WA',
  'America/Anchorage': 'AK',
  'Pacific/Honolulu': 'HI',
  'America/Puerto_Rico': 'PR VI',
  'Pacific/Guam': 'GU MP',
  'Pacific/Pago_Pago': 'AS',
}
const zones: ReadonlyMap<string, Zone> = new Map(
  Object.entries(states).flatMap(([zone, names]) => names.split(' ').map(name => [name, zone] as const)),
)
