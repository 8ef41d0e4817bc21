import { expect, test } from 'vitest'
import { formatFault } from '../../src/content/faults.ts'
import { readContent } from '../../src/content/read.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'

/** The faults of one listing with this description, which starts on line 12 of its file. */
function check(description: string): string[] {
  const text = listingText().replace('A description.\n', description)
  const folder = createContentFolder({ 'listings/x402/foo.md': text })
  return readContent(folder.dir, { allowPrivate: false })
    .faults.filter(({ severity }) => severity === 'error')
    .map((fault) => formatFault(fault, 'content'))
}

test.each([
  [
    'lines, tabs and code',
    'One.\n\n```sh\n\tcurl "https://x.example/{id}"\n```\n\n- 天気 👨‍👩‍👧‍👦\n- خدمة\n',
  ],
  ['raw HTML', '<script>alert(1)</script>\n'],
  ['nothing', ''],
])('a description with %s is fine', (_, description) => {
  expect(check(description)).toEqual([])
})

test.each([
  ['a right-to-left override', 'Fine.\n\nRun gpj\u202eexe now.\n', 14, 'U+202E'],
  ['words hidden from people', 'Fine.\u{e0049}\u{e0067}\n', 12, 'U+E0049'],
  ['an escape sequence', 'Fine.\n\u001b[2J\n', 13, 'U+001B'],
  ['a forged name', 'By P\u0430yPal.\n', 12, 'Cyrillic'],
])('%s is refused, with its line', (_, description, line, what) => {
  const [fault, ...more] = check(description)
  expect(more).toEqual([])
  expect(fault).toMatch(/^content\/listings\/x402\/foo\.md:\d+ description: expected /)
  expect(fault).toContain(`:${line} `)
  expect(fault).toContain(what)
})
