// Says in words whether a figure meets its aim.
import { ratio, whole } from './table.mjs'

function shown(target) {
  return target < 100 ? ratio(target) : whole(target)
}

function judged(value, target, isMet) {
  if (isMet) return 'met'
  const percent = Math.abs(value / target - 1) * 100
  return `missed by ${percent < 1 ? 'less than 1' : percent.toFixed(0)} %`
}

function judge(what, sign, { value, aim, mark }, meets) {
  if (!Number.isFinite(value)) return `${what} ${sign} ${shown(aim)} not measured`
  const words = `${what} ${sign} ${shown(aim)} ${judged(value, aim, meets(aim))}`
  return mark === undefined ? words : `${words} (mark ${shown(mark)} ${judged(value, mark, meets(mark))})`
}

/** How a figure that should be large compares with its aim, and with the mark beyond the aim if there is one. */
export function atLeast(what, value, aim, mark) {
  return judge(what, '≥', { value, aim, mark }, target => value >= target)
}

/** The same for a figure that should be small. */
export function atMost(what, value, aim, mark) {
  return judge(what, '≤', { value, aim, mark }, target => value <= target)
}
