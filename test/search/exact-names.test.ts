import { expect, test } from 'vitest'
import { findIn, indexOf, sampleDocument } from './search-samples.ts'

const index = indexOf([
  sampleDocument({
    id: 'mcp.acme-jane',
    name: 'Acme (Jane)',
    summary: 'Acme, Acme and Acme.',
    url: 'https://github.com/jane/acme-mcp',
  }),
  sampleDocument({
    id: 'mcp.acme-suite',
    name: 'Acme Suite',
    summary: 'Search and write pages.',
    url: 'https://docs.acme.example/mcp',
  }),
  sampleDocument({
    id: 'mcp.acmeville',
    name: 'Acmeville',
    summary: 'A town.',
    url: 'https://github.com/acme/ville',
  }),
  sampleDocument({ id: 'mcp.borg-kim', name: 'Borg (Kim)', url: 'https://github.com/kim/borg' }),
  sampleDocument({ id: 'mcp.borg-tools', name: 'Tools for Borg', tags: ['borg', 'borg tools'] }),
  sampleDocument({
    id: 'mcp.tern-backup',
    name: 'Tern backup',
    url: 'https://github.com/tern/backup',
    summary: 'Tern.',
  }),
  sampleDocument({ id: 'mcp.measure', name: 'Measures', url: 'https://xn--gre-6ka8i.dev/mcp' }),
  sampleDocument({
    id: 'mcp.tern',
    name: 'Tern',
    url: 'https://tern.co.uk/mcp',
    summary: 'One of a long row of words that all say something else.',
  }),
  sampleDocument({
    id: 'mcp.rook',
    name: 'Rook',
    url: 'https://rook.example/mcp',
    summary: 'One of a long row of words that all say something else.',
  }),
  sampleDocument({
    id: 'mcp.rook-files',
    name: 'Rook files, by Rook',
    url: 'https://rook.example/files',
    summary: 'Rook.',
    tags: ['rook'],
    trustScore: 95,
    liveTested: true,
  }),
])

test.each([
  ['the seller itself before others, whatever they write', 'Acme', 'mcp.acme-suite'],
  ['however it is said', 'acme mcp server', 'mcp.acme-suite'],
  ['its whole name before what else it has', 'tern', 'mcp.tern'],
  ['of its own listings the one of its name', 'Rook', 'mcp.rook'],
  ['who has the product, where its seller has no listing', 'Borg', 'mcp.borg-kim'],
])('%s', (_, q, id) => {
  expect(findIn(index, q).ids[0]).toBe(id)
})

test.each(['größe.dev', 'https://größe.dev/', 'xn--gre-6ka8i.dev'])(
  'a host is found as people write it and as clients do: %s',
  (q) => {
    expect(findIn(index, q).ids[0]).toBe('mcp.measure')
  },
)

test('a word that starts with the name of an account is another name', () => {
  expect(findIn(index, 'acme').ids).not.toContain('mcp.acmeville')
})
