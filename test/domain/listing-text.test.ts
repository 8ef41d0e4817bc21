import { describe, expect, test } from 'vitest'
import { findTextFault } from '../../src/domain/listing/listing-text.ts'
import { findFactFaults } from './listing-samples.ts'

describe('legal text comes through as it is', () => {
  test.each([
    ['plain', 'Example Weather'],
    ['quotes and dashes', 'Brand’s “best” API — 50–200 rows, it\'s "ok"'],
    ['HTML', '<script>alert(1)</script> & <b>bold</b> &amp;'],
    ['Markdown', '[x](javascript:alert(1)) `code` *a* ](y)'],
    ['a formula for a spreadsheet', '=HYPERLINK("https://x.example")'],
    ['a query for a database', "'; DROP TABLE listings; --"],
    ['a template', '{{7*7}} <%= x %> {base_url}'],
    ['accents, composed and not', 'Zürich Zu\u0308rich Việt Nam'],
    ['Chinese', 'CRIC物业AI MCP 服务器'],
    ['Japanese', 'グラフィック（請求書）と領収書'],
    ['Japanese with a variant of a character', '葛\u{e0100}城市'],
    ['Korean', '자동화하여 문서를 처리합니다.'],
    ['Arabic', 'خدمة الطقس'],
    ['Persian with a non-joiner', 'می\u200cخواهم'],
    ['Hebrew beside Latin', 'שלום Weather'],
    ['Hindi with a joiner', 'क्\u200dष'],
    ['Thai', 'พยากรณ์อากาศ'],
    ['Russian beside Latin', 'Погода API'],
    ['Greek beside Latin', 'Καιρός API'],
    ['units', 'W/m², 5 µm, 5 μm, 10 kΩ, 10 k\u2126, Δt, °C'],
    ['a brand with a Greek letter', 'μTorrent λCalculus'],
    ['emoji', '🐧 🪟 👉 ❤️ ☎︎ 1️⃣'],
    ['emoji with a tone of skin', '👍🏽'],
    ['a family', '👨‍👩‍👧‍👦'],
    ['a heart on fire', '❤️‍🔥'],
    ['a flag', '🇩🇪'],
    ['a rainbow flag', '🏳️‍🌈'],
    ['the flag of Scotland', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
    ['a wide space', '東京\u3000天気'],
  ])('%s', (_, text) => {
    expect(findTextFault(text)).toBeNull()
  })
})

describe('what deceives the reader is refused', () => {
  test.each([
    ['NUL', 'a\u0000b', /control characters, got U\+0000/],
    ['a line break', 'a\nb', /control characters, got U\+000A/],
    ['a tab', 'a\tb', /U\+0009/],
    ['an escape sequence', '\u001b[31mred', /U\+001B/],
    ['DEL', 'a\u007f', /U\+007F/],
    ['a C1 control', 'a\u0085b', /U\+0085/],
    ['a line separator', 'a\u2028b', /U\+2028/],
    ['a right-to-left override', 'gpj\u202eexe', /invisible or direction-changing .* U\+202E/],
    ['a right-to-left isolate', 'a\u2067b\u2069', /U\+2067/],
    ['a right-to-left mark', 'a\u200fb', /U\+200F/],
    ['an Arabic letter mark', 'a\u061cb', /U\+061C/],
    ['a zero-width space', 'Pay\u200bPal', /U\+200B/],
    ['a joiner in a Latin word', 'Pay\u200dPal', /U\+200D/],
    ['a non-joiner in a Latin word', 'Pay\u200cPal', /U\+200C/],
    ['a joiner behind an emoji', '👍\u200d', /U\+200D/],
    ['a joiner behind an Arabic word', 'طقس\u200c', /U\+200C/],
    ['a soft hyphen', 'Pay\u00adPal', /U\+00AD/],
    ['a word joiner', 'Pay\u2060Pal', /U\+2060/],
    ['a byte order mark', '\ufeffPayPal', /U\+FEFF/],
    ['a Hangul filler', 'Pay\u3164Pal', /U\+3164/],
    ['a variation selector behind a letter', 'Pay\ufe0fPal', /U\+FE0F/],
    ['words hidden in variation selectors', '😀\u{e0148}\u{e0159}', /U\+E0148/],
    ['words hidden in tags', 'hi \u{e0049}\u{e0067}\u{e006e}', /U\+E0049/],
    ['a flag of tags that no font knows', '🏴\u{e0067}\u{e0062}\u{e007f}', /U\+E0067/],
    ['half a surrogate pair', 'a\ud83d', /broken or private/],
    ['a replacement character', 'Zu\ufffdrich', /broken or private/],
    ['a private character', 'a\uf8ff', /broken or private/],
    ['a noncharacter', 'a\uffff', /broken or private/],
    ['a tower of marks', `Z${'\u0300'.repeat(5)}algo`, /at most 4 marks/],
    [
      'a Cyrillic letter in a Latin word',
      'P\u0430yPal',
      /Latin mixed with Cyrillic in "P\u0430yPal"/,
    ],
    ['a Cyrillic letter further on', 'Weather by Pay\u0420al', /Cyrillic in "Pay\u0420al"/],
    ['a Greek letter that looks Latin', 'Pay\u03a1al', /Latin mixed with Greek/],
    ['a short one', '\u0391PI', /Latin mixed with Greek/],
    ['a Greek omicron', 'G\u03bf\u03bfgle', /Latin mixed with Greek/],
    ['an Armenian letter', 'G\u0585ogle', /Latin mixed with Armenian/],
    ['a Cherokee letter', 'Pay\u13e2al', /Latin mixed with Cherokee/],
  ])('%s', (_, text, message) => {
    expect(findTextFault(text)).toMatch(message)
  })
})

describe('in a listing', () => {
  test.each([
    ['name', 'a'.repeat(80), []],
    ['name', 'a'.repeat(81), ['name: expected at most 80 characters, got 81']],
    ['summary', 'a'.repeat(200), []],
    ['summary', 'a'.repeat(201), ['summary: expected at most 200 characters, got 201']],
    ['tags', ['a'.repeat(61)], ['tags.0: expected at most 60 characters, got 61']],
    ['name', 'Weather ', ['name: expected no spaces at the start or the end']],
    ['name', '\u00a0Weather', ['name: expected no spaces at the start or the end']],
    ['name', 7, ['name: expected text']],
    [
      'name',
      'P\u0430y',
      ['name: expected one script in a word, got Latin mixed with Cyrillic in "P\u0430y"'],
    ],
  ])('%s %j', (field, value, faults) => {
    expect(findFactFaults({ [field]: value })).toEqual(faults)
  })

  test.each(['', ' ', '\u3000'])('a summary of %j is nothing', (summary) => {
    expect(findFactFaults({ summary })).toEqual(['summary: expected text, got nothing'])
  })
})
