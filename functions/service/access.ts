import type { IncomingMessage, ServerResponse } from 'node:http'
import { valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import { badgeDataPath, badgePath } from '../../src/domain/wire/links.ts'
import { toTransportHeaders } from '../../src/domain/wire/published-files.ts'
import type { Parts } from '../features/feature.ts'
import { publicJson } from '../http/answers.ts'
import { hashSecret, SECRET_PATTERN } from '../sellers/sign-in.ts'
import { takeHead } from '../server/compress-answers.ts'
import type { NodeHandler } from '../server/connections.ts'
import { isRefusedByPage, sendResponse, splitTarget } from '../server/node-answers.ts'
import { withPatience } from '../store/store.ts'
import type { PathTable } from './app.ts'

/** How long a revoked token still works (milliseconds): it saves a store read per request. */
const KNOWN_MS = 5_000
const MOST_KNOWN = 10_000

/** Files of the sign-in page: none reveals any content. What else is open says so in its row. */
const OPEN_FILES = new Set(['/favicon.svg', '/colours.css'])

/**
 * `READ_ACCESS=token`: nothing is served without a token from `npm run access`, sent as a bearer
 * token or as the password a browser asks for. `Proxy-Authorization` leaves `Authorization` free
 * for a seller called through the relay; the token itself never gets past this gate.
 */
export function createAccessGate(parts: Parts, paths: PathTable, enter: NodeHandler): NodeHandler {
  const { config, release } = parts
  if (config.READ_ACCESS === 'open') return enter
  const isValid = createTokenCheck(parts)
  const isOpen = (path: string) =>
    OPEN_FILES.has(path) ||
    paths.find(path).some((row) => row.isOpen === true) ||
    // The manifest holds the exact address: "/_astro/../api" only has the same prefix.
    (path.startsWith('/_astro/') && release().files.has(path)) ||
    release().site.public_badges.some((id) => path === badgePath(id) || path === badgeDataPath(id))
  return (req, res) => {
    const { path } = splitTarget(req.url ?? '')
    if (isOpen(path)) return enter(req, res)
    keepFromCaches(res)
    const token = takeToken(req)
    const judged = token === null ? Promise.resolve(false) : isValid(token)
    judged.then(
      (isKnown) => (isKnown ? enter(req, res) : refuse(parts, req, res, { path, paths })),
      () =>
        sendResponse(
          req,
          res,
          parts.problem('store-unavailable', { detail: 'Tokens cannot be checked now.' }),
        ),
    )
  }
}

function createTokenCheck({ ledger, clock }: Pick<Parts, 'ledger' | 'clock'>) {
  const known = new Map<string, number>()
  return async (token: string): Promise<boolean> => {
    const hash = hashSecret(token)
    const now = clock.now()
    if ((known.get(hash) ?? 0) > now) return true
    const query = ledger.store.db
      .selectFrom('access_token')
      .select('expires_at')
      .where('token_hash', '=', hash)
    const row = await withPatience(() => query.executeTakeFirst())
    if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) return false
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(hash, Math.min(now + KNOWN_MS, row.expires_at ?? Number.POSITIVE_INFINITY))
    return true
  }
}

/** Says in the operator's words where tokens come from. */
const ACCESS_PAGE = '/problems/token-required'

const CREDENTIALS = ['proxy-authorization', 'authorization'] as const

/**
 * The token of a request. Every header line that carries it is removed from the request, in
 * whichever field and however often: neither a log nor a seller sees it.
 */
function takeToken(req: IncomingMessage): string | null {
  const { rawHeaders } = req
  const lines = CREDENTIALS.flatMap((name) => valuesOf(rawHeaders, name).map(readToken))
  const token = lines.find((line) => SECRET_PATTERN.test(line))
  if (token === undefined) return null
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    const name = CREDENTIALS.find((each) => each === rawHeaders[at]?.toLowerCase())
    const value = rawHeaders[at + 1] ?? ''
    if (name === undefined || !(readToken(value) === token || value.includes(token))) continue
    rawHeaders.splice(at, 2)
    delete req.headers[name]
  }
  return token
}

/** @example readToken('Basic ' + btoa('anybody:secret')) → 'secret' */
function readToken(header: string): string {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(header) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  return /:(.*)$/.exec(Buffer.from(value, 'base64').toString('latin1'))?.[1] ?? ''
}

function refuse(
  { config, problem, release }: Parts,
  req: IncomingMessage,
  res: ServerResponse,
  { path, paths }: { path: string; paths: PathTable },
) {
  const isProtocol = paths.find(path).some((row) => row.isProtocol === true)
  const realm = `realm="${release().site.short_name}"`
  const basic = `Basic ${realm}, charset="UTF-8"`
  // A browser reads only the first challenge of a line; for Basic it asks for a password.
  const isBrowser = req.headers.accept?.includes('text/html') === true
  const headers = {
    ...toTransportHeaders(config.BASE_URL),
    'WWW-Authenticate': isBrowser ? basic : `Bearer ${realm}, ${basic}`,
  }
  const detail =
    'This directory is closed: send a token of its operator as "Authorization: Bearer <token>".'
  if (isRefusedByPage(req, path) && !isProtocol) {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    if (release().files.serve(req, res, ACCESS_PAGE, 401)) return
  }
  const isArd = path.startsWith('/ard/')
  const body = isArd ? { errorCode: 'UNAUTHENTICATED', message: detail } : { error: detail }
  const refusal = isProtocol
    ? publicJson(body, headers, 401)
    : problem('token-required', { detail, headers })
  return sendResponse(req, res, refusal)
}

const CACHE_FIELDS = /^(?:cache-control|cdn-cache-control|surrogate-control|expires)$/i
const CLOSED = 'private, no-store'

/** No cache may hold this answer, whatever code writes its head. */
function keepFromCaches(res: ServerResponse): void {
  const { writeHead } = res
  const closed = (status: number, ...given: unknown[]) => {
    takeHead(res, status, given)
    for (const name of res.getHeaderNames()) if (CACHE_FIELDS.test(name)) res.removeHeader(name)
    res.setHeader('Cache-Control', CLOSED)
    return Reflect.apply(writeHead, res, [status])
  }
  Reflect.set(res, 'writeHead', closed)
}
