import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { toPlainText } from '../../seeds/facts/seed-texts.ts'
import { toPrintable } from '../../src/content/faults.ts'
import { cutText } from '../../src/domain/wire/text.ts'
import { guardHang } from '../support/hang-guard.ts'

describe('foreign Markdown and HTML as plain text', () => {
  test.each([
    ['<sup><sup>1</sup></sup> - BigQuery integration', '1 - BigQuery integration'],
    ['<script>alert(1)</script>Weather', 'Weather'],
    ['<img src=x onerror=alert(1)>Weather', 'Weather'],
    ['one<br>two</p>three', 'one two three'],
    ['a < b and 2 > 1, from <$5', 'a < b and 2 > 1, from <$5'],
    ['<!-- hidden orders -->Seen', 'Seen'],
    ['Tom &amp; Jerry &lt;b&gt; &#65;&#x42; &unknown;', 'Tom & Jerry <b> AB &unknown;'],
    ['See [the docs](https://x.example "title") and ![logo](l.png)', 'See the docs and logo'],
    ['# Title\n- **bold** and *soft*\n> `code`', 'Title bold and soft code'],
    ['**a_b** and ***both***, **cut off', 'a_b and both, cut off'],
    ['**two *nested* words**', 'two nested words'],
    ['snake_case_name and __init__ and 2*3*4', 'snake_case_name and init and 2*3*4'],
    ['```sh\nnpx weather\n```', 'npx weather'],
    ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
    ['[click](javascript:alert(1))', 'click'],
    ['line one\r\n\tline two', 'line one line two'],
    ['in\u200bvi\u202esible \ufeff\u{e0041}text \ufffd', 'invisible text'],
    ['\u0000nul\u001b[31mred', 'nul [31mred'],
    ['\ud800 lone surrogate', 'lone surrogate'],
    ['👩\u200d🚀 دروازه\u200cبان', '👩\u200d🚀 دروازه\u200cبان'],
    ['天气 API', '天气 API'],
  ])('%j reads %j', (foreign, plain) => {
    expect(toPlainText(foreign)).toBe(plain)
  })

  const TRAPS = ['[', '![', '<a', '<!--', '**a', '_a', '&#x', '[](', '<script>', '`', '\n# ']
  test.each(TRAPS)('%j over and over is not a trap: no pattern sees more than 8,000', (piece) => {
    const replace = vi.spyOn(String.prototype, 'replace')
    guardHang(() => toPlainText(piece.repeat(100_000)))
    const seen = replace.mock.contexts.map((text) => String(text).length)
    replace.mockRestore()
    expect(seen[0]).toBe(8000)
    expect(Math.max(...seen)).toBe(8000)
  })
})

describe('cutting to a length', () => {
  test.each([
    ['short', 20, 'short'],
    ['one two three', 9, 'one two…'],
    ['one two, three', 10, 'one two…'],
    ['abcdefghijkl', 6, 'abcde…'],
    ['天气预报服务接口', 5, '天气预报…'],
  ])('%j in %i is %j', (text, max, cut) => {
    expect(cutText(text, max)).toBe(cut)
  })

  test('never splits a character and never exceeds the length', () => {
    const grapheme = fc.constantFrom('a', ' ', 'é', '👨‍👩‍👧‍👦', '🇩🇪', '字', '👍🏽', 'n̈')
    const whole = new Intl.Segmenter('en', { granularity: 'grapheme' })
    fc.assert(
      fc.property(
        fc.array(grapheme, { maxLength: 60 }),
        fc.integer({ min: 2, max: 60 }),
        (parts, max) => {
          const text = parts.join('')
          const cut = cutText(text, max)
          expect(cut.length).toBeLessThanOrEqual(Math.max(max, 1))
          if (cut === text) return
          const kept = cut.slice(0, -1)
          const ends = new Set([0])
          let end = 0
          for (const { segment } of whole.segment(text)) {
            end += segment.length
            ends.add(end)
          }
          expect(text.startsWith(kept)).toBe(true)
          expect(ends.has(kept.length)).toBe(true)
        },
      ),
    )
  })
})

test('what goes to a terminal holds no escape sequence and no line of its own', () => {
  expect(toPrintable('a\u001b]0;title\u0007\nb\u202ec\u009b1m')).toBe(
    'a\\u{1b}]0;title\\u{7}\\u{a}b\\u{202e}c\\u{9b}1m',
  )
  expect(toPrintable('x'.repeat(1000)).length).toBeLessThan(310)
})
