// Loaded first into a process: its clock goes as usual, and is as many days ahead as DAYS_AHEAD says.
const Real = Date
const aheadMs = Number(process.env.DAYS_AHEAD) * 86_400_000
globalThis.Date = class extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [Real.now() + aheadMs] : given))
  }
  static now() {
    return Real.now() + aheadMs
  }
}
