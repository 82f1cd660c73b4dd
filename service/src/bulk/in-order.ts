import { Readable } from 'node:stream'

/** An item that was begun, and its answer, if it has one. */
export type Begun = { readonly answer: Promise<string> | string | undefined }

/** The place of an answer until it is sent. */
type Place = { text: string | undefined }

/**
 * The answers to what `begin` makes of each item, in the order of the items. At most `mostUnderWay` are under way at once, and
 * none is begun while nobody reads the answers: so a client that does not read stops being read. What is under way when the
 * stream is destroyed ends by itself.
 */
export function answerInOrder<Item>(
  items: AsyncIterable<Iterable<Item>>,
  context: {
    /** Begins an item, one after the other; its answer, if it has one, may come later. Neither rejects. */
    readonly begin: (item: Item) => Begun | Promise<Begun>
    /** The last text, for an error of the source. */
    readonly failed: (error: unknown) => string
    /** Resolves when the stream may end, once all its texts are in it. */
    readonly ending: () => Promise<void>
    readonly mostUnderWay: number
  },
): Readable {
  const underWay: Place[] = []
  let isWanted = true
  let isGone = false
  let wake = () => {}
  let willFlush = false
  const flush = () => {
    willFlush = false
    let text = ''
    for (let first = underWay[0]; first?.text !== undefined; first = underWay[0]) {
      text += first.text
      underWay.shift()
    }
    if (text !== '' && !isGone) isWanted = answers.push(text)
    wake()
  }
  // The answers of a batch of commands come in one turn of the event loop, and leave together.
  const flushSoon = () => {
    if (!willFlush) setImmediate(flush)
    willFlush = true
  }
  const changed = () => new Promise<void>(resolve => (wake = resolve))
  const until = async (holds: () => boolean) => {
    while (!isGone && !holds()) await changed()
  }
  const add = (answer: Promise<string> | string) => {
    const place: Place = { text: undefined }
    underWay.push(place)
    const done = (text: string) => {
      place.text = text
      flushSoon()
    }
    if (typeof answer === 'string') done(answer)
    else void answer.then(done)
  }
  const mayBegin = () => isWanted && underWay.length < context.mostUnderWay
  const run = async () => {
    try {
      for await (const some of items)
        for (const item of some) {
          // Awaited only where there is something to wait for: 5 MiB of line feeds take half the time so.
          if (!mayBegin()) await until(mayBegin)
          if (isGone) return
          const begun = context.begin(item)
          const { answer } = begun instanceof Promise ? await begun : begun
          if (answer !== undefined) add(answer)
        }
    } catch (error) {
      add(context.failed(error))
    }
    await until(() => underWay.length === 0)
    await context.ending()
    answers.push(null)
  }
  const answers = new Readable({
    read() {
      isWanted = true
      wake()
    },
    destroy(error, done) {
      isGone = true
      wake()
      done(error)
    },
  })
  void run()
  return answers
}
