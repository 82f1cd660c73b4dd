import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judgeFile, sniff } from './file-kind.ts'

const png = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.from(`\0\0\0\rIHDR${'\0'.repeat(17)}`, 'latin1'),
  Buffer.from('\0\0\0\0IEND\xae\x42\x60\x82', 'latin1'),
])
const webp = Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1')

test('a file is what its first bytes say', () => {
  expect(sniff(Buffer.from('%PDF-1.7\n'))).toBe('application/pdf')
  expect(sniff(png)).toBe('image/png')
  expect(sniff(webp)).toBe('image/webp')
})

test.each([
  ['a drawing', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['a page', '<!doctype html><script>1</script>'],
  ['a page before a PDF', '<html>%PDF-1.7'],
  ['a sound', 'RIFF\0\0\0\0WAVEfmt '],
  ['nothing', ''],
])('%s is none of the three', (_, text) => {
  expect(sniff(Buffer.from(text, 'latin1'))).toBeUndefined()
})

test('whatever bytes are brought, only a kind that is allowed is taken', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(Buffer.from('%PDF-'), png, webp, Buffer.alloc(0)),
      fc.uint8Array({ maxLength: 64 }),
      (start, rest) => {
        const judged = judgeFile(Buffer.concat([start, rest]), ['image/png'])
        // A PNG is one to its end.
        expect('mediaType' in judged).toBe(start === png && rest.length === 0)
      },
    ),
  )
})

test.each([
  ['cut', png.subarray(0, -5)],
  ['with something behind it', Buffer.concat([png, Buffer.from('<script>')])],
  ['without an end', png.subarray(0, -12)],
])('a PNG %s is refused', (_, content) => {
  expect(judgeFile(content, ['image/png'])).toHaveProperty('refused')
})
