import { isBare, isSwitchedOff, type Switches } from '../../domain/derived/tables.ts'
import { PROTOCOL_ENDPOINTS, type ProtocolEndpointId } from '../../domain/wire/routes.ts'

interface Words {
  /** A sentence for its clients. */
  note: string
  /** The sentence for a directory without sellers, payments or trust. */
  bare?: string
  /** A command that runs once `{base}` is replaced by this directory's address. */
  example: string
}

/** A protocol without a text here stops the build. */
const WORDS: Readonly<Record<(typeof PROTOCOL_ENDPOINTS)[ProtocolEndpointId]['protocol'], Words>> =
  {
    MCP: {
      note: 'Streamable HTTP without sessions, in the current revision and the former ones. Eight tools, a prompt, and each listing as a resource directory://listing/<id>; call_listing takes x402 and MPP payments in _meta, and returns the directory’s receipt there.',
      bare: 'Streamable HTTP without sessions, in the current revision and the former ones. Eight tools, a prompt, and each listing as a resource directory://listing/<id>.',
      example: rpc('{base}/mcp', 'tools/call', {
        name: 'search_listings',
        arguments: { query: 'web search' },
      }),
    },
    A2A: {
      note: 'JSON-RPC in A2A 1.0, or in 0.3 if no A2A-Version is sent. A message is a search; a data part adds filters, and the answer is one message. Streaming and tasks are not offered.',
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
      note: 'Our MCP listings through the read API of the MCP registry, for registry clients. Trust is under our own _meta key. With updated_since, removed servers are listed as deleted.',
      bare: 'Our MCP listings through the read API of the MCP registry, for registry clients. With updated_since, removed servers are listed as deleted.',
      example: "curl -s '{base}/v0.1/servers?search=postgres&limit=5'",
    },
    'x402 discovery': {
      note: 'Paid operations of our listings in the format of x402 discovery. accepts has the offers that the seller’s own 402 made to our probe; before a probe it is empty, and extensions has what was published. Path parameters appear in resource as :name.',
      example: "curl -s '{base}/discovery/search?query=web+search&limit=5'",
    },
    ARD: {
      note: 'ARD 0.91. The manifest names this directory; a search finds listings, by text and by terms from any namespace that @context binds. Other registries are neither searched nor named, whatever the query’s federation is; explore is not offered.',
      example: `curl -s '{base}/ard/search' -H 'content-type: application/json' -d '{"query":{"text":"web search"}}'`,
    },
    'AI Catalog': {
      note: 'The ARD entries, as an AI catalog.',
      example: "curl -s '{base}/.well-known/ai-catalog.json'",
    },
    'RFC 9727': {
      note: 'Links to the descriptions of our APIs, as a linkset.',
      example: "curl -s '{base}/.well-known/api-catalog'",
    },
    'llms.txt': {
      note: 'For models that read text: the endpoints, the categories, and one line for each listing.',
      example: "curl -s '{base}/llms.txt'",
    },
    Feeds: {
      note: 'Changes to a listing, or to the first fifty results of a search, as Atom or JSON Feed.',
      example: "curl -s '{base}/search.json?q=web+search'",
    },
    Markdown: {
      note: 'Every listing, category and comparison as Markdown: add .md to its address, or send Accept: text/markdown.',
      example: "curl -s '{base}/category/web_search.md'",
    },
  }

/** Every endpoint other than our API, in table order, grouped by protocol. */
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
