import { createReadStream, readFileSync, type Stats, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { codeOf } from '../../src/domain/wire/problems.ts'
import {
  fileHeaders,
  findContentType,
  isCopied,
  isDumpCopy,
} from '../../src/domain/wire/published-files.ts'
import { acceptsEncoding, type ReportFailure, sendResponse } from '../server/node-answers.ts'

const PLAIN = /^(?:\/(?:\.well-known(?=\/)|[\w~@:+=-][\w.~@:+=-]*))*\/?$/
/** File names that are not addresses: index files of folders, and compressed copies. */
const HIDDEN = /\/index\.(?:html|json)$|\.br$|(?<!\.ndjson)\.gz$/

/** How many bytes of files are kept in memory; the oldest are dropped first. */
const MAX_HELD_BYTES = 256 << 20
/** A longer file (bytes) is streamed from the disk: the ledger of a million payments does not fit in memory. */
const MAX_READ_BYTES = 8 << 20

const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** A file in one coding, with its headers. */
interface Sent {
  place: string
  /** Null if the file is streamed. */
  bytes: Buffer | null
  etag: string
  /** Headers for an answer without a body. */
  bare: Record<string, string>
  full: Record<string, string>
}

/** The file at an address, and the answers made so far, by the accepted content codings. */
interface Found {
  /** Path from the folder. */
  file: string
  bytes: number
  /** The ETag's base, from the file's time: a rebuilt file gets a new time, and a linked file keeps its time. */
  tag: string
  sent: Map<string, Sent>
}

/** How much memory an address takes in addition to its file's bytes. */
const FOUND_BYTES = 1024

/**
 * A release's files, from its `public` folder with compressed copies next to them. Security model:
 * an address becomes a path only if every part of it is plain; only the part `.well-known` may
 * begin with a dot, so no address leads out of the folder. Known limitation: bytes that a disk
 * corrupted are sent; only data and code that a server loads have checksums.
 * @param root the release's `public` folder
 */
export function createStaticFiles(root: string, report: ReportFailure) {
  const held = new Map<string, Found>()
  let size = 0
  const addSize = (bytes: number) => {
    size += bytes
    for (const [oldest, { sent }] of held) {
      if (size <= MAX_HELD_BYTES) return
      held.delete(oldest)
      size -= FOUND_BYTES
      for (const { bytes } of sent.values()) size -= bytes?.length ?? 0
    }
  }
  const look = (path: string): Found | null => {
    const known = held.get(path)
    if (known !== undefined) return known
    const found = findFile(root, path)
    if (found !== null) {
      held.set(path, found)
      addSize(FOUND_BYTES)
    }
    return found
  }
  const find = (path: string, accepted: string | undefined): Sent | null => {
    const found = look(path)
    if (found === null) return null
    const wanted = isDumpCopy(path) ? '' : toCodings(accepted)
    const known = found.sent.get(wanted)
    if (known !== undefined) return known
    const sent = load(root, found, wanted)
    if (held.get(path) === found) {
      found.sent.set(wanted, sent)
      addSize(sent.bytes?.length ?? 0)
    }
    return sent
  }
  return {
    has: (path: string) => look(path) !== null,
    /**
     * Answers GET and HEAD for a known path; false leaves the request to the next layer. Under
     * another `status`, such as the 404 page's, the file answers every method.
     */
    serve(req: IncomingMessage, res: ServerResponse, path: string, status = 200): boolean {
      try {
        const sent = find(path, req.headers['accept-encoding'])
        if (sent === null) return redirectSlash(res, path, root)
        if (status === 200 && req.method !== 'GET' && req.method !== 'HEAD') return false
        send(req, res, sent, status)
      } catch (error) {
        void sendResponse(req, res, report('file.damaged', error, { path }))
      }
      return true
    },
    /** The uncompressed bytes at a known address, for other protocols; null for an unknown address. */
    read(path: string): Buffer | null {
      if (isDumpCopy(path)) return null
      const sent = find(path, undefined)
      return sent === null ? null : (sent.bytes ?? readFileSync(sent.place))
    },
  }
}

/** Codings by `Accept-Encoding`: every request has this header, but few different values occur. */
const accepted = new Map<string, string>()
const MAX_ACCEPTED = 64

/** The codings that a client accepts, the smallest first: `b`, `g`, both or none. */
function toCodings(header: string | undefined): string {
  if (header === undefined) return ''
  const known = accepted.get(header)
  if (known !== undefined) return known
  const codings = CODINGS.map(([coding]) => (acceptsEncoding(header, coding) ? coding[0] : ''))
  if (accepted.size >= MAX_ACCEPTED) accepted.clear()
  accepted.set(header, codings.join(''))
  return codings.join('')
}

/** The file below `root` for an address; the likeliest of its possible names is tried first. */
function findFile(root: string, path: string): Found | null {
  if (!path.startsWith('/') || !PLAIN.test(path) || HIDDEN.test(path)) return null
  if (path.length > 1 && path.endsWith('/')) return null
  const base = path === '/' ? '' : path
  const names = [`${base}/index.html`, `${base}/index.json`]
  if (base.startsWith('/api/')) names.reverse()
  if (/\.(?:svg|css|js|woff2)$/.test(base)) names.unshift(base)
  else if (base !== '') names.push(base)
  for (const file of names) {
    const found = statFile(root + file)
    if (found === null) continue
    const tag = `${Math.round(found.mtimeMs).toString(36)}-${found.size.toString(36)}`
    return { file, bytes: found.size, tag, sent: new Map() }
  }
  return null
}

function statFile(place: string): Stats | null {
  const found = ifThere(() => statSync(place, { throwIfNoEntry: false }))
  return found?.isFile() === true ? found : null
}

/** Null if reading fails, for example because an address is longer than file names may be. */
function ifThere<Read>(read: () => Read): Read | null {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ENAMETOOLONG'].includes(codeOf(error))) return null
    throw error
  }
}

function load(root: string, found: Found, wanted: string): Sent {
  const { file, bytes: length } = found
  // The dump has its own copy, whatever its size.
  const hasCopies = isCopied(findContentType(file.slice(1)), length) || isDumpCopy(`${file}.gz`)
  for (const [coding, ending] of CODINGS) {
    if (!hasCopies || !wanted.includes(coding.charAt(0))) continue
    // The dump has only one copy, and a development server's release has none.
    const copy = ifThere(() => readShort(`${root}${file}${ending}`, length))
    if (copy !== null) return toSent(found, { ...copy, hasCopies, coding })
  }
  return toSent(found, { ...readShort(`${root}${file}`, length), hasCopies })
}

/** @param whole length of the uncompressed file: if it is too long for memory, nothing is read */
function readShort(place: string, whole: number) {
  if (whole > MAX_READ_BYTES) return { place, bytes: null, length: statSync(place).size }
  const bytes = readFileSync(place)
  return { place, bytes, length: bytes.length }
}

function toSent(
  { file, tag }: Found,
  { place, bytes, length, hasCopies, coding }: Read & { hasCopies: boolean; coding?: string },
): Sent {
  const name = file.slice(1)
  const { vary, ...fixed } = fileHeaders({ file: name, type: findContentType(name) })
  const varies = hasCopies ? (vary === undefined ? ENCODING : `${vary}, ${ENCODING}`) : vary
  const etag = coding === undefined ? `"${tag}"` : `"${tag}-${coding}"`
  const bare = { ...fixed, etag, ...(varies !== undefined && { vary: varies }) }
  const full = {
    ...bare,
    ...(coding !== undefined && { 'content-encoding': coding }),
    'content-length': String(length),
  }
  return { place, bytes, etag, bare, full }
}
type Read = ReturnType<typeof readShort>

const ENCODING = 'accept-encoding'

function send(req: IncomingMessage, res: ServerResponse, sent: Sent, status: number): void {
  const { bytes, bare, full } = sent
  if (status === 200 && matchesEtag(req.headers['if-none-match'], sent.etag))
    return void res.writeHead(304, bare).end()
  // An error answer must not be cached: the request may succeed later.
  res.writeHead(status, status === 200 ? full : { ...full, 'cache-control': 'no-store' })
  if (req.method === 'HEAD') res.end()
  else if (bytes !== null) res.end(bytes)
  // A client that leaves ends the stream, and so does a failing disk; the client notices by the length.
  else void pipeline(createReadStream(sent.place), res).catch(() => res.destroy())
}

/** Canonical addresses have no trailing slash; redirects lead only to known addresses. */
function redirectSlash(res: ServerResponse, path: string, root: string): boolean {
  if (path.length < 2 || !path.endsWith('/')) return false
  const location = path.slice(0, -1)
  if (findFile(root, location) === null) return false
  const headers = { location, 'cache-control': 'public, max-age=60', 'content-length': '0' }
  res.writeHead(301, headers).end()
  return true
}

/** `If-None-Match` compares weakly (RFC 9110 §13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return (
    header === '*' || header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag)
  )
}
