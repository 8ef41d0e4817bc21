import { expect, test } from 'vitest'
import { nameSnippet } from '../../src/domain/kit/client-setup.ts'

test('code is labelled by its language, configuration by its client and file', () => {
  expect(['curl', 'claude_code', 'some_client', 'install_codex'].map(nameSnippet)).toEqual([
    { label: 'curl', file: null },
    { label: '.mcp.json', file: '.mcp.json' },
    { label: 'some client', file: null },
    { label: 'Codex', file: null },
  ])
})
