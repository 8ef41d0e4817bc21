import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

/** A program that a package could hold: it speaks MCP over stdio, or does what its first word says. */
const NAME = { name: 'harbour', version: '2.1.0' }
/** Far longer than a test waits; a run that is killed leaves nothing for good. */
const stay = () => setTimeout(() => {}, 60_000)

const SERVERS: Record<string, () => unknown> = {
  async former() {
    const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js')
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js')
    const server = new McpServer(NAME)
    server.registerTool('find_ship', { description: 'By name.' }, () => ({ content: [] }))
    console.error('npm warn: something on stderr that is nobody’s business')
    // The package's own types disagree under exactOptionalPropertyTypes.
    return server.connect(new StdioServerTransport() as Transport)
  },
  async current() {
    const { McpServer, fromJsonSchema } = await import('@modelcontextprotocol/server')
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
    return serveStdio(
      () => {
        const server = new McpServer(NAME)
        const inputSchema = fromJsonSchema({ type: 'object', properties: {} })
        server.registerTool('find_ship', { inputSchema }, () => ({ content: [] }))
        return server
      },
      { legacy: 'reject' },
    )
  },
  endless() {
    const more = (): void => void process.stdout.write('x'.repeat(65_536), more)
    more()
  },
  complaining() {
    const more = (): void => void process.stderr.write('x'.repeat(65_536), more)
    more()
  },
  silent: stay,
  website: () => console.log('Listening on port 3000'),
  ends() {
    console.error('Error: API_KEY is not set')
    process.exit(1)
  },
  crashes() {
    console.error('TypeError: ships is not iterable')
    process.exit(1)
  },
  writer() {
    console.error("Error: EROFS: read-only file system, mkdir '/data'")
    process.exit(1)
  },
  greedy: () => process.exit(137),
}

await SERVERS[process.argv[2] ?? '']?.()
