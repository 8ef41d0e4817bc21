import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashSecret } from '../../functions/sellers/sign-in.ts'
import { formatFault } from '../../src/content/faults.ts'
import { readContent } from '../../src/content/read.ts'
import type { Policy } from '../../src/domain/derived/tables.ts'
import { judgePolicy } from '../../src/domain/protocols/registry-entry.ts'
import { toListing } from '../domain/listing-samples.ts'
import { readAsEditor } from '../doors/registry-shape.ts'
import type { RunningService } from '../support/running-service.ts'
import { createOwnDirectory, type OwnDirectory } from './own-directory.ts'

const POLICY: Policy = { id: 'p', name: 'P', note: '', verified: false, no_notices: false }
let own: OwnDirectory
let acme: RunningService
beforeAll(async () => {
  own = createOwnDirectory()
  appendFileSync(
    join(own.content, 'tables/policies.yaml'),
    '- { id: proved, name: Proved, verified: true, min_trust: 50, no_notices: true }\n',
  )
  own.build()
  acme = await own.start()
})
afterAll(async () => {
  await acme?.close()
  own?.remove()
})

const read = async (path: string) => {
  const response = await fetch(acme.url + path)
  return { status: response.status, text: await response.text() }
}

test('each policy is a registry that holds what fits it', async () => {
  const { servers } = JSON.parse((await read('/policies/approved/v0.1/servers?limit=10')).text)
  expect(servers).toMatchObject([{ server: { title: 'Example notes' } }])
  const name = encodeURIComponent(servers[0].server.name)
  const versions = await read(`/policies/approved/v0.1/servers/${name}/versions`)
  expect(JSON.parse(versions.text).servers).toEqual(servers)
  const latest = await read(`/policies/approved/v0.1/servers/${name}/versions/latest`)
  expect(JSON.parse(latest.text)).toEqual(servers[0])
  expect(JSON.parse((await read('/policies/proved/v0.1/servers')).text).servers).toEqual([])
  expect((await read(`/policies/proved/v0.1/servers/${name}/versions/latest`)).status).toBe(404)
})

test('an editor reads it as the registry it was given', async () => {
  const approved = `${acme.url}/policies/approved`
  const { found, requested } = await readAsEditor(`${approved}/`)
  expect(found.map(({ server }) => server.title)).toEqual(['Example notes'])
  expect(requested.map((address) => address.replace(approved, ''))).toEqual([
    '/v0.1/servers?limit=1',
    '/v0.1/servers?limit=50&version=latest',
    `/v0.1/servers/${encodeURIComponent(found[0]?.server.name ?? '')}/versions/latest`,
  ])
  expect((await readAsEditor(approved, { text: 'Team' })).found).toEqual(found)
  expect((await readAsEditor(approved, { text: 'a/b?&' })).found).toEqual([])
  expect((await readAsEditor(`${acme.url}/policies/proved`)).found).toEqual([])
  await expect(readAsEditor(`${acme.url}/policies/nobody`)).rejects.toThrow('Server returned 404')
})

test('a closed one is read by who sends a token', async () => {
  const [state, token] = [`${own.stateDir}-closed`, 'x'.repeat(43)]
  const closed = await own.start({ READ_ACCESS: 'token', STATE_DIR: state })
  try {
    const row = { name: 'editors', token_hash: hashSecret(token), created_at: 0, expires_at: null }
    await closed.service.parts.ledger.store.db.insertInto('access_token').values(row).execute()
    const headers = { authorization: `Bearer ${token}` }
    const { found } = await readAsEditor(`${closed.url}/policies/approved`, { headers })
    expect(found).toHaveLength(1)
    const refused = readAsEditor(`${closed.url}/policies/approved`)
    await expect(refused).rejects.toThrow('Server returned 401')
  } finally {
    await closed.close()
    rmSync(state, { recursive: true, force: true })
  }
})

test('its page names what is in, and why others are out', async () => {
  expect((await read('/policies/approved')).text).toMatch(/Example notes/)
  expect((await read('/policies/proved')).text).toContain(
    'no trust score; not claimed with proof of its domain',
  )
})

test('a policy that nobody wrote is not a registry', async () => {
  for (const id of ['nobody', '..%2Fapproved', 'approved%00'])
    expect((await read(`/policies/${id}/v0.1/servers`)).status).toBe(404)
})

test('a policy that names what is not there is a fault, with its place', () => {
  const file = join(own.content, 'tables/policies.yaml')
  const faultOf = (text: string) => {
    writeFileSync(file, text)
    return readContent(own.content, { allowPrivate: false })
      .faults.filter(({ severity }) => severity === 'error')
      .map((fault) => formatFault(fault, 'content'))
  }
  expect(faultOf('- { id: a, name: A, min_score: 5 }\n')).toEqual([
    expect.stringMatching(/policies\.yaml:1 .*min_score: expected one of the known keys/),
  ])
  expect(faultOf('- { id: a, name: A, allow: [mcp.nobody] }\n')).toEqual([
    expect.stringContaining('a.allow: expected ids of listings that exist, got mcp.nobody'),
  ])
})

test('each rule says why', () => {
  const listing = toListing()
  expect(judgePolicy(POLICY, listing)).toEqual([])
  expect(judgePolicy({ ...POLICY, allow: [] }, listing)).toEqual(['not on the list'])
  expect(judgePolicy({ ...POLICY, min_trust: 101 }, listing)[0]).toMatch(/trust/)
})
