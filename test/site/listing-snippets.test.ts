import { expect, test } from 'vitest'
import { toSnippets } from '../../src/components/calls/listing-snippets.ts'

test('code is labelled by its language, configuration by its client and file', () => {
  expect(
    toSnippets({
      snippets: { curl: 'curl x\n', claude_code: '{}\n', some_client: 'y', install_codex: 'z' },
    }),
  ).toEqual([
    { label: 'curl', file: null, code: 'curl x' },
    { label: '.mcp.json', file: '.mcp.json', code: '{}' },
    { label: 'some client', file: null, code: 'y' },
    { label: 'Codex', file: null, code: 'z' },
  ])
})

test('a kit without snippets has none', () => {
  expect(toSnippets({ snippets: {} })).toEqual([])
})
