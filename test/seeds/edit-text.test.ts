import { describe, expect, test } from 'vitest'
import { editText } from '../../seeds/commands/review.ts'

const FILE = { path: "listings/mcp/it's a lamp.md", text: 'name: harbour\n' }
const TO_RIVER = `sed -i -e 's/harbour/river/'`

describe('a text changed in an editor', () => {
  test.each([
    ['EDITOR, with arguments of its own', { EDITOR: TO_RIVER }],
    ['VISUAL before EDITOR', { VISUAL: TO_RIVER, EDITOR: 'false' }],
  ])('by %s', (_, env) => {
    expect(editText(FILE, env)).toBe('name: river\n')
  })

  test('is read anew where the editor put another file in its place', () => {
    const EDITOR = 'f() { printf new > "$1.next" && mv "$1.next" "$1"; }; f'
    expect(editText(FILE, { EDITOR })).toBe('new')
  })

  test('stays as it was where the editor ended with a fault, or none is named', () => {
    expect(() => editText(FILE, { EDITOR: 'false' })).toThrow('false ended with a fault')
    expect(() => editText(FILE, {})).toThrow('expected an editor in VISUAL or EDITOR')
  })
})
