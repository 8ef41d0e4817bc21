import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { McpServer as FormerServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  McpServer as CurrentServer,
  createMcpHandler,
  fromJsonSchema,
} from '@modelcontextprotocol/server'
import { listen, type Site } from './probe-world.ts'

/** MCP servers as the official packages build them, current and former. */
export interface McpSite extends Site {
  /** What was asked, in order: HTTP method and JSON-RPC method. */
  requested: string[]
}

const NAME = { name: 'harbour', version: '2.1.0' }

const TEXTS = {
  title: 'Find a ship',
  description: 'By name or IMO number.',
  parameter: 'Name of the ship',
}

/**
 * The current package; it answers the former revisions too unless told to refuse them.
 *
 * @param texts what it says of its tool
 */
export function startCurrent(
  legacy: 'stateless' | 'reject',
  texts: typeof TEXTS = TEXTS,
): Promise<McpSite> {
  const handler = createMcpHandler(
    () => {
      const server = new CurrentServer(NAME)
      server.registerTool(
        'find_ship',
        {
          title: texts.title,
          description: texts.description,
          inputSchema: fromJsonSchema({
            type: 'object',
            properties: { name: { type: 'string', description: texts.parameter } },
            required: ['name'],
          }),
          annotations: { readOnlyHint: true },
        },
        () => ({ content: [] }),
      )
      return server
    },
    { legacy },
  )
  return startWith(async (req, res, body) => {
    const answer = await handler.fetch(
      new Request(`http://${req.headers.host}${req.url}`, {
        method: req.method ?? 'GET',
        headers: Object.fromEntries(
          Object.entries(req.headers).map(([name, value]) => [name, String(value)]),
        ),
        ...(body !== '' && { body }),
      }),
    )
    res.writeHead(answer.status, Object.fromEntries(answer.headers))
    res.end(Buffer.from(await answer.arrayBuffer()))
  })
}

function createFormerServer(): FormerServer {
  const server = new FormerServer(NAME)
  server.registerTool('find_ship', { description: 'By name.' }, () => ({ content: [] }))
  server.registerTool('sink_ship', { annotations: { destructiveHint: true } }, () => ({
    content: [],
  }))
  return server
}

/** The former package with sessions, answering in events or in JSON. */
export function startFormer(
  enableJsonResponse: boolean,
): Promise<McpSite & { sessions: Set<string> }> {
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const sessions = new Set<string>()
  const site = startWith(async (req, res, body) => {
    const id = String(req.headers['mcp-session-id'] ?? '')
    const known = transports.get(id)
    if (known !== undefined) return known.handleRequest(req, res, parse(body))
    if (!body.includes('"initialize"')) {
      res
        .writeHead(400)
        .end('{"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"},"id":null}')
      return
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse,
      onsessioninitialized: (opened) => {
        transports.set(opened, transport)
        sessions.add(opened)
      },
      onsessionclosed: (closed) => void sessions.delete(closed),
    })
    // The package's own types disagree under exactOptionalPropertyTypes.
    await createFormerServer().connect(transport as Transport)
    await transport.handleRequest(req, res, parse(body))
  })
  return site.then((started) => ({ ...started, sessions }))
}

/** The transport of 2024: a stream, and an address to post to. */
export function startSse(): Promise<McpSite> {
  const transports = new Map<string, SSEServerTransport>()
  return startWith(async (req, res, body) => {
    if (req.method === 'GET' && req.url === '/mcp') {
      const transport = new SSEServerTransport('/messages', res)
      transports.set(transport.sessionId, transport)
      return createFormerServer().connect(transport)
    }
    const id = new URL(req.url ?? '', 'http://x').searchParams.get('sessionId') ?? ''
    const transport = transports.get(id)
    if (transport === undefined) res.writeHead(404).end()
    else await transport.handlePostMessage(req, res, parse(body))
  })
}

async function startWith(
  answer: (req: IncomingMessage, res: ServerResponse, body: string) => Promise<void>,
): Promise<McpSite> {
  const requested: string[] = []
  const server = createServer(async (req, res) => {
    const body = await readText(req)
    const { method = '' } = body === '' ? {} : JSON.parse(body)
    requested.push(`${req.method} ${method}`.trim())
    await answer(req, res, body)
  })
  return { ...(await listen(server)), requested }
}

function parse(body: string): unknown {
  return body === '' ? undefined : JSON.parse(body)
}
