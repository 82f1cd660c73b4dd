import { Readable } from 'node:stream'

/** An item that was begun, until its answer is sent. */
type Begun = { text: string | undefined }

/**
 * The answers to what `begin` makes of each item, in the order of the items. At most `mostUnderWay` are under way at once, and
 * none is begun while nobody reads the answers: so a client that does not read stops being read. What is under way when the
 * stream is destroyed ends by itself.
 */
export function answerInOrder<Item>(
  items: AsyncIterable<Iterable<Item>>,
  context: {
    /** Begins an item, one after the other; its answer, if it has one, may come later. Neither rejects. */
    readonly begin: (item: Item) => Promise<{ readonly answer: Promise<string> | string | undefined }>
    /** The last text, for an error of the source. */
    readonly failed: (error: unknown) => string
    /** Resolves when the stream may end, once all its texts are in it. */
    readonly ending: () => Promise<void>
    readonly mostUnderWay: number
  },
): Readable {
  const underWay: Begun[] = []
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
    const begun: Begun = { text: undefined }
    underWay.push(begun)
    const done = (text: string) => {
      begun.text = text
      flushSoon()
    }
    if (typeof answer === 'string') done(answer)
    else void answer.then(done)
  }
  const run = async () => {
    try {
      for await (const some of items)
        for (const item of some) {
          await until(() => isWanted && underWay.length < context.mostUnderWay)
          if (isGone) return
          const { answer } = await context.begin(item)
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
