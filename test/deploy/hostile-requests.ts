import { connect } from 'node:net'

/** A request as it lies on the wire: clients would repair most of these. */
export interface HostileRequest {
  name: string
  /** Method, target and version. */
  line: string
  /** Of `Host`; our own where it is absent. */
  host?: string
  headers?: readonly string[]
}

/** What no other host may ever see of a caller. */
export const SECRETS = { cookie: '__Host-session=stolen-session', payment: 'stolen-payment' }

/**
 * One corpus for everything that may stand before our functions. `elsewhere` is a host and port that a
 * test listens on: nothing may lead there.
 */
export function toHostileRequests(elsewhere: string): HostileRequest[] {
  const targets = [
    `//${elsewhere}/x`,
    `///${elsewhere}/x`,
    `////${elsewhere}/x`,
    `/\\${elsewhere}/x`,
    `/\\/${elsewhere}/x`,
    `\\\\${elsewhere}\\x`,
    `//${elsewhere}%2fx`,
    `/%2f${elsewhere}/x`,
    `/%2f%2f${elsewhere}/x`,
    `/%5c${elsewhere}/x`,
    `/%5c%5c${elsewhere}%5cx`,
    `/.//${elsewhere}/x`,
    `/..//${elsewhere}/x`,
    `/%2e%2e//${elsewhere}/x`,
    `/x/..//${elsewhere}/x`,
    `/http://${elsewhere}/x`,
    `/https:${elsewhere}/x`,
    `/@${elsewhere}/x`,
    `/:80@${elsewhere}/x`,
    `/;@${elsewhere}/x`,
    `/?url=http://${elsewhere}/x`,
    `/go/%2f%2f${elsewhere}`,
    `/go/http:%2f%2f${elsewhere}`,
    `/api/v1/call/x402.weather?endpoint=//${elsewhere}/x`,
    `/api/v1/call/x402.weather?endpoint=http://${elsewhere}/x`,
    `/api/v1/call/..%2f..%2f..%2f${elsewhere}/x`,
    `//${elsewhere}/api/v1/search?q=x`,
    `//${elsewhere}/%2e%2e/api/v1/stats`,
    `/api/v1/..%2f..%2f/${elsewhere}`,
    `/listing/..%2f..%2f..%2fetc%2fpasswd`,
    `/listing/%2e%2e/%2e%2e/%2e%2e/etc/passwd`,
    `/_astro/..%2f..%2fdata/release.json`,
    `/_astro/%2e%2e/%2e%2e/data/release.json`,
    `/docs%00.html`,
    `/docs%0d%0aLocation:%20http://${elsewhere}/`,
    `/_image?href=http://${elsewhere}/x`,
    '/_headers',
    '/search.index',
    '/.git/config',
  ]
  const paths = ['/', '/docs', '/api/v1/stats', '/go/x402.weather', '/docs/', '/nothing', '/mcp']
  const forwarded = [
    `Forwarded: for=1.2.3.4;host=${elsewhere};proto=http`,
    `X-Forwarded-Host: ${elsewhere}`,
    'X-Forwarded-Proto: http',
    'X-Forwarded-Port: 1',
    `X-Forwarded-Server: ${elsewhere}`,
    `X-Original-URL: //${elsewhere}/x`,
    `X-Rewrite-URL: http://${elsewhere}/x`,
    `X-Host: ${elsewhere}`,
    `X-Real-IP: 127.0.0.1`,
    'X-HTTP-Method-Override: DELETE',
    `X-Accel-Redirect: /internal`,
    `Origin: http://${elsewhere}`,
    `Referer: http://${elsewhere}/x`,
  ]
  const get = (target: string) => `GET ${target} HTTP/1.1`
  return [
    ...targets.flatMap((target) =>
      ['GET', 'POST'].map((method) => ({
        name: `${method} ${target}`,
        line: `${method} ${target} HTTP/1.1`,
      })),
    ),
    ...['http', 'https', 'ftp'].map((scheme) => ({
      name: `absolute form of ${scheme}`,
      line: get(`${scheme}://${elsewhere}/x`),
    })),
    { name: 'absolute form and its own Host', line: get(`http://${elsewhere}/x`), host: elsewhere },
    { name: 'authority form', line: `CONNECT ${elsewhere} HTTP/1.1`, host: elsewhere },
    { name: 'a bare name as the target', line: get(`${elsewhere}/x`) },
    ...paths.map((path) => ({ name: `foreign Host at ${path}`, line: get(path), host: elsewhere })),
    { name: 'a Host with a path', line: get('/docs/'), host: `waypost.example/${elsewhere}` },
    { name: 'a Host with a user', line: get('/docs/'), host: `waypost.example@${elsewhere}` },
    { name: 'two Host lines', line: get('/docs/'), headers: [`Host: ${elsewhere}`] },
    ...paths.flatMap((path) =>
      forwarded.map((header) => ({
        name: `${header} at ${path}`,
        line: get(path),
        headers: [header],
      })),
    ),
    ...paths.map((path) => ({
      name: `every forwarded header at ${path}`,
      line: get(path),
      headers: forwarded,
    })),
  ]
}

export interface RawAnswer {
  status: number
  /** Lower-case names. */
  headers: ReadonlyMap<string, string>
  text: string
}

const SILENCE_MS = 20_000

/** Sends it with a session and a payment. A connection that ends without an answer has status 0. */
export function sendHostile(
  url: string,
  { line, host = 'waypost.example', headers = [] }: HostileRequest,
  from = '127.0.0.1',
): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>()
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress: from })
  const chunks: Buffer[] = []
  socket.setTimeout(SILENCE_MS, () => {
    socket.destroy()
    reject(new Error(`${line}: no answer in ${SILENCE_MS} ms`))
  })
  socket.on('error', () => {})
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('close', () => resolve(parseAnswer(Buffer.concat(chunks).toString('latin1'))))
  const own = [`Cookie: ${SECRETS.cookie}`, `X-PAYMENT: ${SECRETS.payment}`, 'Connection: close']
  const body = line.startsWith('POST')
    ? ['Content-Type: application/json', 'Content-Length: 2']
    : []
  const head = [line, `Host: ${host}`, ...own, ...body, ...headers].join('\r\n')
  socket.write(`${head}\r\n\r\n${body.length > 0 ? '{}' : ''}`, 'latin1')
  return promise
}

function parseAnswer(raw: string): RawAnswer {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = lines.map((each): [string, string] => {
    const colon = each.indexOf(':')
    return [each.slice(0, colon).toLowerCase(), each.slice(colon + 1).trim()]
  })
  return {
    status: Number(first.split(' ')[1] ?? 0),
    headers: new Map(headers),
    text: rest.join('\r\n\r\n'),
  }
}
