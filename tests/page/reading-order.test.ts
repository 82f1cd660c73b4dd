import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { expectStored } from '../walks.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { startRig } from './rig.ts'
import { openStage } from './show.ts'
import { statesIn, statesStartAt } from './states.ts'

const rig = forAllTests(() => startRig({ startAt: statesStartAt }))

/**
 * What a screen reader finds in each view, in reading order: the accessibility tree as text. What walks store already is not
 * stored twice: the first state of a view is stored whole, and of each later one only the lines that no state before it has.
 */
describeInBrowser('the reading order of every view', () => {
  const browser = forAllTests(launchBrowser)

  test('is as it was read and kept', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 800 } })
    const page = await context.newPage()
    const stage = await openStage(page, rig)
    const trees: string[] = []
    const [read, views] = [new Set<string>(), new Set<string>()]
    for (const state of await statesIn('en')) {
      await stage.show(state)
      // The frame around views is always the same: it is stored with the first view, and with the first view of a
      // session. An open dialog is everything that can be read.
      const hasShell = trees.length === 0 || state.name === 'details-review'
      const isAsked = (await page.locator('dialog[open]').count()) > 0
      const part = page.locator(isAsked ? 'dialog' : hasShell ? 'body' : '#main').first()
      const tree = await part.ariaSnapshot()
      // The time left depends on how long the page has been open.
      const lines = tree
        .replace(/^ *- \/url: .*\n/gm, '')
        .replace(/^( *- timer): .*$/gm, '$1')
        .replace(/BE-\w{4}-\w{4}/g, 'BE-0000-0000')
        .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '00000000-0000-0000-0000-000000000000')
        .replace(/\b1[23]:\d\d( |\u202f)PM/g, '12:00$1PM')
        .split('\n')
      const fresh = views.has(state.view) ? lines.filter(line => !read.has(line)) : lines
      trees.push([`== ${state.name}`, ...fresh, ''].join('\n'))
      views.add(state.view)
      for (const line of lines) read.add(line)
    }
    await context.close()
    const stored = trees.join('\n')
    expect(stored).not.toMatch(/\bany more\b|\bcolour|\benrol\b|\benrolment|we send|confirmation here/i)
    await expectStored(stored, new URL('reading-order/en.txt', import.meta.url))
  })
})

// A sentence without its Spanish appears among the lines that are the same in both languages.
test('every view has in Spanish the same form, and the same words only where they are stored', async () => {
  const [english, spanish] = [await statesIn('en'), await statesIn('es')]
  const same = new Set<string>()
  for (const [index, { name, html }] of spanish.entries()) {
    // Where nobody's language is known, it is that of the browser.
    if (!html.includes('<html lang="es"')) {
      same.add(`== ${name} is in English`)
      continue
    }
    const [one, other] = [piecesOf(english[index]?.html ?? ''), piecesOf(html)]
    expect(other.map(formOf), name).toEqual(one.map(formOf))
    const words = other.filter(piece => !piece.startsWith('<')).join('\n')
    expect(words, name).not.toMatch(/canjear|trocar|Accident coverage|Choose|le enviamos/i)
    for (const [at, piece] of other.entries())
      if (piece === one[at] && /^[^<].*\p{L}{2}/u.test(piece)) same.add(piece)
  }
  await expectStored(`${[...same].sort().join('\n')}\n`, new URL('reading-order/both.txt', import.meta.url))
})

/** The tags of a document, each with its classes and role, and its words, also those that only a screen reader says. */
function piecesOf(html: string): string[] {
  return html.split(/(<[^>]*>)/).flatMap(piece => {
    if (!piece.startsWith('<')) return piece.trim() === '' ? [] : [piece.replace(/\s+/g, ' ').trim()]
    const [tag = ''] = /^<\/?[\w!-]+/.exec(piece) ?? []
    const kept = [...piece.matchAll(/ (?:class|role|type)="[^"]*"/g)].join('')
    const said = [...piece.matchAll(/ (?:aria-label|alt|title|placeholder)="([^"]*)"/g)]
    return [`${tag}${kept}>`, ...said.map(([, words = '']) => words)]
  })
}

/** A tag as it is, and that there are words. */
function formOf(piece: string): string {
  return piece.startsWith('<') ? piece : 'words'
}
