import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

/**
 * What stands in for docker: it keeps account of what it was told, and its "containers" are this
 * process, a server that is named by the package. They end when they are removed by name.
 */
const dir = dirname(process.argv[1] ?? '')
const [command = '', ...words] = process.argv.slice(2)
const known = { argv: [command, ...words], env: Object.keys(process.env), cwd: process.cwd() }
appendFileSync(join(dir, 'calls.ndjson'), `${JSON.stringify(known)}\n`)

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
  deaf() {
    process.on('SIGTERM', () => {})
    stay()
  },
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
  refused: () => process.exit(125),
}

/** The package's own name, without scope, registry, version and tag. */
function nameOf(word: string): string {
  const [name = ''] = (word.split('/').at(-1) ?? '').split(/[:@]/)
  return name
}

function container(name: string): string {
  return join(dir, `${name}.pid`)
}

const name = words[words.indexOf('--name') + 1] ?? ''
const image = words.at(-1) ?? ''
switch (command) {
  case 'version':
    if (existsSync(join(dir, 'no-daemon'))) {
      console.error('Cannot connect to the daemon.')
      process.exitCode = 1
    }
    break
  case 'info':
    // Rootless podman on cgroups v1.
    if (existsSync(join(dir, 'boundless'))) console.log('true v1')
    break
  case 'pull':
    if (nameOf(image) === 'missing') {
      console.error('Error response: manifest unknown')
      process.exitCode = 1
    }
    break
  case 'image':
    if (words[0] === 'inspect' && nameOf(image) !== 'local') process.exitCode = 1
    break
  case 'run': {
    writeFileSync(container(name), String(process.pid))
    const server = words.map(nameOf).findLast((word) => word in SERVERS)
    await SERVERS[server ?? '']?.()
    break
  }
  case 'rm': {
    const file = container(words.at(-1) ?? '')
    if (existsSync(join(dir, 'stuck'))) {
      console.error('the daemon hangs')
      process.exitCode = 1
    } else if (existsSync(file)) {
      const pid = Number(readFileSync(file, 'utf8'))
      rmSync(file)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It had ended by itself.
      }
    } else {
      console.error(`Error: No such container: ${words.at(-1)}`)
      process.exitCode = 1
    }
  }
}
