import { expect, test } from 'vitest'
import { toCodePieces } from '../../src/site/frame/code-pieces.ts'
import { toSourceLines } from '../../src/site/listing/source-lines.ts'

test.each([
  ['See `detail`.', ['See ', ['detail'], '.']],
  ['`a` and `b`', [['a'], ' and ', ['b']]],
  ['one ` alone', ['one ` alone']],
  ['`` empty', ['`` empty']],
  ['', []],
])('%s: code is what stands between backticks', (sentence, pieces) => {
  const shown = toCodePieces(sentence).map(({ text, isCode }) => (isCode ? [text] : text))
  expect(shown).toEqual(pieces)
})

test('a source is named once, by the words it asks for, and its licence is not said twice', () => {
  const row = { url: '', decision: 'used' as const, reason: '', listings: 1 }
  const table = [
    {
      ...row,
      id: 'bazaar',
      name: 'Bazaar',
      license: 'CC BY 4.0 (for a part)',
      attribution: 'Bazaar by A (CC BY 4.0)',
    },
    { ...row, id: 'registry', name: 'Registry', license: 'MIT', attribution: '' },
  ]
  const sources = [
    { source: 'registry', ref: 'https://r.example/1' },
    { source: 'registry', ref: 'https://r.example/2' },
    { source: 'bazaar', ref: 'https://b.example' },
    { source: 'other', ref: 'https://o.example' },
  ]
  expect(toSourceLines({ sources }, table)).toEqual([
    { text: 'Registry', href: 'https://r.example/1', license: 'MIT' },
    { text: 'Bazaar by A (CC BY 4.0)', href: 'https://b.example', license: '' },
    { text: 'other', href: 'https://o.example', license: '' },
  ])
})
