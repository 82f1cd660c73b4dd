import type { Instant } from '../../calendar/calendar.ts'
import type { Partner } from '../../partners/partner.ts'

/** The objects from which an answer was made, besides the user's state and the request. */
type MadeFrom = { readonly partner: Partner; readonly catalogue: number; readonly now: Instant }

/** Finished answers as JSON in UTF-8; each is valid for a limited time. */
export type FinishedAnswers = {
  /** The earlier answer to this request, if the same answer would be made now. */
  find(asked: string, from: MadeFrom): Buffer | undefined
  /** Keeps an answer that is valid until `until`, unless one of the objects changes from which it was made. */
  keep(asked: string, from: MadeFrom, answer: { json: Buffer; until: Instant }): void
}

type ReadyAnswer = MadeFrom & { readonly json: Buffer; readonly until: Instant }

/**
 * Opens a set of answers; the answer kept longest ago is dropped first. `onGrown` is called with the bytes that they
 * take.
 */
export function openFinishedAnswers({
  most = Number.POSITIVE_INFINITY,
  mostBytes = Number.POSITIVE_INFINITY,
  onGrown = () => {},
}: {
  most?: number
  mostBytes?: number
  onGrown?: (bytes: number) => void
}): FinishedAnswers {
  const kept = new Map<string, ReadyAnswer>()
  let bytes = 0
  const grow = (by: number) => {
    bytes += by
    onGrown(by)
  }
  const remove = (asked: string) => {
    const known = kept.get(asked)
    if (known && kept.delete(asked)) grow(-(known.json.length + asked.length))
  }
  return {
    find(asked, { partner, catalogue, now }) {
      const answer = kept.get(asked)
      const isSame =
        answer !== undefined &&
        answer.partner === partner &&
        answer.catalogue === catalogue &&
        // A clock can be set back, and a sandbox's clock can be moved forward.
        answer.now <= now &&
        now < answer.until
      return isSame ? answer.json : undefined
    },
    keep(asked, from, { json, until }) {
      remove(asked)
      kept.set(asked, {
        partner: from.partner,
        catalogue: from.catalogue,
        now: from.now,
        json,
        until,
      })
      grow(json.length + asked.length)
      while (kept.size > most || bytes > mostBytes) {
        const [oldest] = kept.keys()
        remove(oldest ?? '')
      }
    },
  }
}
