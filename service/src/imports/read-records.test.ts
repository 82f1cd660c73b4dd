import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ImportRecord, readRecords } from './read-records.ts'

async function recordsIn(bytes: Buffer, chunkLength = bytes.length): Promise<ImportRecord[]> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkLength) yield bytes.subarray(at, at + chunkLength)
  }
  const all: ImportRecord[] = []
  for await (const some of readRecords(chunks())) all.push(...some)
  return all
}

const header = 'userid,firstname\n'
const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\n', '\r', ' ', '😀') })

test('members that are written as CSV are read as they were written, however the file is cut into chunks', async () => {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, cell)), fc.integer({ min: 1, max: 20 }), async (rows, cut) => {
      const text = rows.map(cells => `${cells.map(quoted).join()}\r\n`).join('')
      const records = await recordsIn(Buffer.from(header + text), cut)
      const members = records.map(record => ('member' in record ? record.member : record))
      expect(members).toEqual(
        rows.map(([userid, firstname]) => ({
          ...(userid && { userid }),
          ...(firstname && { firstname }),
          benefits: [],
          consents: [],
        })),
      )
    }),
  )
})

test('whatever a file contains, its last line is read, and each fault is one of a line', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', '{', '[', '\0', '\u00ff') })
  const firsts = fc.constantFrom(header, '{"userid":"first"}\n')
  await fc.assert(
    fc.asyncProperty(firsts, text, fc.integer({ min: 1, max: 20 }), async (first, damaged, cut) => {
      const last = first === header ? 'last,Ada' : '{"userid":"last"}'
      const bytes = Buffer.from(`${first}${damaged}\n${last}`, 'latin1')
      const records = await recordsIn(bytes, cut)
      expect(records.at(-1)).toMatchObject({ member: { userid: 'last' } })
      const lines = bytes.filter(byte => byte === 0x0a).length + 1
      expect(records.filter(({ line }) => line < 1 || line > lines)).toEqual([])
    }),
  )
})
