import { isBare, isSwitchedOff, type Switches } from '../../domain/derived/tables.ts'
import { PROTOCOL_ENDPOINTS, type ProtocolEndpointId } from '../../domain/wire/routes.ts'

interface Words {
  /** A sentence for its clients. */
  note: string
  /** Used by a directory without sellers, payments or trust. */
  bare?: string
  /** A command that runs once `{base}` is this directory's address. */
  example: string
}

/** A protocol without a text here stops the build. */
const WORDS: Readonly<Record<(typeof PROTOCOL_ENDPOINTS)[ProtocolEndpointId]['protocol'], Words>> =
  {
    MCP: {
      note: 'Streamable HTTP without sessions, in the current revision and the former ones. Eight tools, a prompt, and each listing as a resource directory://listing/<id>; call_listing takes x402 and MPP payments in _meta, and gives the receipt of the directory back there.',
      bare: 'Streamable HTTP without sessions, in the current revision and the former ones. Eight tools, a prompt, and each listing as a resource directory://listing/<id>.',
      example: rpc('{base}/mcp', 'tools/call', {
        name: 'search_listings',
        arguments: { query: 'web search' },
      }),
    },
    A2A: {
      note: 'JSON-RPC of 1.0, and of 0.3 where no A2A-Version is sent. A message is a search, a data part adds its filters, the answer is one message; streaming and tasks are not offered.',
      example: rpc('{base}/a2a', 'message/send', {
        message: {
          kind: 'message',
          messageId: '1',
          role: 'user',
          parts: [{ kind: 'text', text: 'web search' }],
        },
      }),
    },
    'MCP registry API': {
      note: 'The read API of the MCP registry over our MCP listings, for clients that look there. Trust is under our own _meta key. With updated_since, servers that left are listed as deleted.',
      bare: 'The read API of the MCP registry over our MCP listings, for clients that look there. With updated_since, servers that left are listed as deleted.',
      example: "curl -s '{base}/v0.1/servers?search=postgres&limit=5'",
    },
    'x402 discovery': {
      note: 'Our paid operations in the format of x402 discovery. accepts has the offers that the seller’s own 402 made to our probe; until then it is empty, and extensions has what was published. Where a path takes values, resource has :name.',
      example: "curl -s '{base}/discovery/search?query=web+search&limit=5'",
    },
    ARD: {
      note: 'ARD 0.91. The manifest names this directory; a search finds listings, by text and by terms of any namespace that @context binds. We ask and name no other registry, whatever federation says, and have no explore.',
      example: `curl -s '{base}/ard/search' -H 'content-type: application/json' -d '{"query":{"text":"web search"}}'`,
    },
    'AI Catalog': {
      note: 'The same entries as an AI catalog.',
      example: "curl -s '{base}/.well-known/ai-catalog.json'",
    },
    'RFC 9727': {
      note: 'Where our APIs are described, as a linkset.',
      example: "curl -s '{base}/.well-known/api-catalog'",
    },
    'llms.txt': {
      note: 'For models that read text: the endpoints and categories, and every listing in a line.',
      example: "curl -s '{base}/llms.txt'",
    },
    Feeds: {
      note: 'What changed of a listing, or of the first fifty results of a search, as Atom or JSON Feed.',
      example: "curl -s '{base}/search.json?q=web+search'",
    },
    Markdown: {
      note: 'Every listing, category and comparison as Markdown, by its suffix or by Accept: text/markdown.',
      example: "curl -s '{base}/category/web_search.md'",
    },
  }

/** Every endpoint other than our API, in the order of the table, grouped by protocol. */
export function toProtocolGroups(baseUrl: string, switches: Switches) {
  const rows = Object.entries(PROTOCOL_ENDPOINTS).flatMap(([id, endpoint]) =>
    isProtocolEndpointId(id) && !isSwitchedOff(endpoint.path, switches) ? [{ id, endpoint }] : [],
  )
  return [...Map.groupBy(rows, ({ endpoint }) => endpoint.protocol)].map(([protocol, group]) => ({
    protocol,
    endpoints: group.map(({ id, endpoint }) => ({
      id,
      name: endpoint.name,
      method: endpoint.methods.join(' '),
      path: endpoint.path.replace(/:(\w+)/g, '{$1}'),
    })),
    note: (isBare(switches) && WORDS[protocol].bare) || WORDS[protocol].note,
    example: WORDS[protocol].example.replaceAll('{base}', baseUrl),
  }))
}

function isProtocolEndpointId(id: string): id is ProtocolEndpointId {
  return Object.hasOwn(PROTOCOL_ENDPOINTS, id)
}

function rpc(url: string, method: string, params: object): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return [
    `curl -s '${url}'`,
    "-H 'content-type: application/json' -H 'accept: application/json, text/event-stream'",
    `-d '${body}'`,
  ].join(' \\\n  ')
}
