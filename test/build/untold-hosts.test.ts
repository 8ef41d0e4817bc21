import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findUnlistedHosts } from '../../functions/commands/find-unlisted-hosts.ts'

const ROWS = [
  { serviceUrl: 'https://tides.gateway.dev', url: 'https://tides.dev' },
  { serviceUrl: 'https://ships.gateway.dev/v1', url: 'https://www.ships.dev' },
  { url: 'https://alone.dev/a' },
  { name: 'no address' },
]

const reason = { id: 'no_price', title: 'T', reason: 'r', why: 'W.', needed: 'N.' }

test('every host that a catalogue names is told by a listing or a reason, its maker’s site too', () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-'))
  try {
    const file = join(folder, 'services.json')
    writeFileSync(file, JSON.stringify({ services: ROWS }))
    const facts = { url: 'https://tides.gateway.dev/', http: [], invoke: [] }
    expect(findUnlistedHosts(file, [{ facts }], [{ ...reason, hosts: ['alone.dev'] }])).toEqual({
      rows: 4,
      unlisted: ['ships.dev', 'ships.gateway.dev', 'tides.dev'],
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})
