import { describe, expect, test } from 'vitest'
import { toListingMarkdown } from '../../functions/protocols/protocols.ts'
import { MCP_CLIENTS } from '../../src/domain/kit/client-setup.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { BASE_URL, toKit, toListing, VIEW_CONTEXT } from '../domain/listing-samples.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'

const REMOTE = { kind: 'mcp', url: 'https://one.example/mcp', transport: 'streamable-http' }
const PACKAGE = { kind: 'mcp_package', transport: 'stdio', registry: 'npm', identifier: 'one-mcp' }

function build(invoke: object, auth: object) {
  const listing = toListing({
    id: 'mcp.one',
    facts: {
      kind: 'mcp_server',
      url: 'https://one.example',
      pricing: { model: 'unknown' },
      invoke: [invoke],
      auth,
    },
  })
  const kit = toKit(listing)
  const view = toListingView(listing, VIEW_CONTEXT)
  return {
    kit,
    markdown: toListingMarkdown(view, kit, { baseUrl: BASE_URL, switches: SITE_TEXTS.switches }),
  }
}

const CLIENTS = Object.keys(MCP_CLIENTS)

describe.each([
  [
    'a header of its own',
    {
      ...REMOTE,
      headers: [{ name: 'X-Key', required: true, secret: true, example: 'sk_live_8h3k2jd9sl4m' }],
    },
    { type: 'other' },
    'X-Key',
    '<X_KEY>',
  ],
  [
    'the header its auth names',
    REMOTE,
    { type: 'api_key', in: 'header', name: 'X-Api-Key' },
    'X-Api-Key',
    '<X_API_KEY>',
  ],
  ['a bearer token', REMOTE, { type: 'bearer' }, 'Authorization', 'Bearer <TOKEN>'],
  [
    'a key in the address',
    REMOTE,
    { type: 'api_key', in: 'query', name: 'apikey' },
    'apikey',
    'apikey=<APIKEY>',
  ],
  [
    'a variable',
    {
      ...PACKAGE,
      env: [
        {
          name: 'ONE_TOKEN',
          required: true,
          secret: true,
          example: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
        },
      ],
    },
    { type: 'api_key' },
    'ONE_TOKEN',
    '<ONE_TOKEN>',
  ],
])('a server that takes %s', (_, invoke, auth, name, placeholder) => {
  const { kit, markdown } = build(invoke, auth)

  test.each(CLIENTS)('names it, with a placeholder, in the configuration for %s', (client) => {
    expect(kit.snippets[client]).toContain(placeholder)
  })

  test('says so in its Markdown twin, for every client that the page shows', () => {
    const [, brought = ''] = /## What to bring\n\n([\s\S]*?)\n\n##/.exec(markdown) ?? []
    expect(brought).toContain(`\`${name}\``)
    for (const { label, file } of Object.values(MCP_CLIENTS))
      expect(markdown).toContain(file === null ? `### ${label}` : `### ${label} (\`${file}\`)`)
    for (const code of Object.values(kit.snippets)) expect(markdown).toContain(code.trimEnd())
  })

  test('shows no sample that looks real', () => {
    expect(JSON.stringify(kit) + markdown).not.toMatch(/sk_live|ghp_/)
  })
})

test('what a setting says of itself is there', () => {
  const headers = [{ name: 'X-Place', description: 'Where it runs.', default: 'oslo' }]
  expect(build({ ...REMOTE, headers }, { type: 'none' }).markdown).toContain(
    '`X-Place` (header, optional): Where it runs.; oslo by default',
  )
})

test('a server that takes nothing says nothing of it', () => {
  expect(build(REMOTE, { type: 'none' }).markdown).not.toContain('What to bring')
})
