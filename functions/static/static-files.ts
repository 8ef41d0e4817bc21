import type { IncomingMessage, ServerResponse } from 'node:http'
import { fileHeaders } from '../../src/domain/delivery/file-headers.ts'
import type { StaticFile } from '../../src/domain/wire/static-file.ts'
import type { ReportFailure } from '../http/failure.ts'
import { sendResponse } from '../http/send-response.ts'
import { acceptsEncoding } from './accepts-encoding.ts'
import { readVerified, type Variant } from './read-verified.ts'

/**
 * The compiled files of a release, answered from memory. Only addresses in the manifest exist:
 * nothing from the request ever becomes a path on disk.
 */
export interface StaticFiles {
  has(path: string): boolean
  /** Answers GET, HEAD and OPTIONS of a known path; false leaves the request to the next layer. */
  serve(req: IncomingMessage, res: ServerResponse, path: string): boolean
  /** Answers with the file at `path` under another status, such as the 404 page. */
  serveAs(req: IncomingMessage, res: ServerResponse, path: string, status: number): boolean
  /** The uncompressed bytes of a known address, for doors of another protocol. */
  read(path: string): Promise<Buffer> | null
}

/**
 * A file is read and verified when it is first asked for; one that is not what was published is a
 * 500 in the log, never a short body.
 * @param files by the address each answers on, see `toUrlPath`
 */
export function createStaticFiles(
  dir: string,
  files: ReadonlyMap<string, StaticFile>,
  report: ReportFailure,
): StaticFiles {
  const cache = createFileCache<Wanted>(
    ({ variant }) => variant.name,
    ({ file, variant }) => readVerified(dir, file, variant),
  )
  return {
    has: (path) => files.has(path) || findDownload(files, path) !== undefined,
    serve(req, res, path) {
      const download = findDownload(files, path)
      const file = files.get(path) ?? download
      if (file === undefined) return redirectSlash(res, path, files)
      if (req.method === 'OPTIONS') return answerPreflight(res)
      if (req.method !== 'GET' && req.method !== 'HEAD') return false
      const isDownload = file === download
      void send(req, res, { file, status: 200, read: cache.read, report, isDownload })
      return true
    },
    serveAs(req, res, path, status) {
      const file = files.get(path)
      if (file === undefined) return false
      void send(req, res, { file, status, read: cache.read, report })
      return true
    },
    read(path) {
      const file = files.get(path)
      return file === undefined
        ? null
        : cache.read({ file, variant: chooseVariant(file, undefined) })
    },
  }
}

/** The file whose compressed copy has an address of its own: a dump is kept as it is fetched. */
function findDownload(
  files: ReadonlyMap<string, StaticFile>,
  path: string,
): StaticFile | undefined {
  const file = path.endsWith('.ndjson.gz') ? files.get(path.slice(0, -'.gz'.length)) : undefined
  return file !== undefined && file.gz > 0 ? file : undefined
}

/** Canonical addresses have no trailing slash; only a known address is ever redirected to. */
function redirectSlash(
  res: ServerResponse,
  path: string,
  files: ReadonlyMap<string, StaticFile>,
): boolean {
  if (path.length < 2 || !path.endsWith('/')) return false
  const target = path.slice(0, -1)
  if (!files.has(target)) return false
  res
    .writeHead(301, {
      location: target,
      'cache-control': 'public, max-age=60',
      'content-length': '0',
    })
    .end()
  return true
}

function answerPreflight(res: ServerResponse): true {
  const headers = {
    allow: 'GET, HEAD, OPTIONS',
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, OPTIONS',
    'access-control-allow-headers': '*',
    'access-control-max-age': '86400',
  }
  res.writeHead(204, headers).end()
  return true
}

interface Wanted {
  file: StaticFile
  variant: Variant
}

interface Sending {
  file: StaticFile
  status: number
  read: (wanted: Wanted) => Promise<Buffer>
  report: ReportFailure
  /** The compressed copy itself is what was asked for. */
  isDownload?: boolean
}

async function send(
  req: IncomingMessage,
  res: ServerResponse,
  { file, status, read, report, isDownload = false }: Sending,
): Promise<void> {
  const variant = chooseVariant(file, isDownload ? 'gzip' : req.headers['accept-encoding'])
  const { bare, full } = isDownload ? toDownload(variant) : variant
  if (status === 200 && matchesEtag(req.headers['if-none-match'], variant.etag)) {
    res.writeHead(304, bare).end()
    return
  }
  try {
    const bytes = await read({ file, variant })
    // What is wrong now may be right in a moment.
    const headers = status === 200 ? full : { ...full, 'cache-control': 'no-store' }
    res.writeHead(status, headers).end(req.method === 'HEAD' ? undefined : bytes)
  } catch (error) {
    await sendResponse(req, res, report('file.damaged', error, { file: variant.name }))
  }
}

/** A variant with the headers of its answers, without a body and with it. */
interface Sent extends Variant {
  bare: Record<string, string>
  full: Record<string, string>
}

/** What a file is sent as, by coding: the same for every request of a release. */
type Prepared = Record<'plain', Sent> & Record<'br' | 'gz', Sent | null>

const prepared = new WeakMap<StaticFile, Prepared>()

function prepare(file: StaticFile): Prepared {
  const known = prepared.get(file)
  if (known !== undefined) return known
  const { size, br, gz } = file
  const made = {
    plain: toSent(file, null, { size, ending: '' }),
    br: br > 0 ? toSent(file, 'br', { size: br, ending: 'br' }) : null,
    gz: gz > 0 ? toSent(file, 'gzip', { size: gz, ending: 'gz' }) : null,
  }
  prepared.set(file, made)
  return made
}

function toSent(
  file: StaticFile,
  coding: Variant['coding'],
  { size, ending }: { size: number; ending: string },
): Sent {
  const fixed = fileHeaders(file)
  const isCompressed = file.br > 0 || file.gz > 0
  const vary = [fixed.vary, isCompressed ? 'accept-encoding' : undefined].filter(
    (name) => name !== undefined,
  )
  const etag = `"${file.digest}${ending && `-${ending}`}"`
  const bare = { ...fixed, etag, ...(vary.length > 0 && { vary: vary.join(', ') }) }
  const encoding = coding === null ? {} : { 'content-encoding': coding }
  const full = { ...bare, ...encoding, 'content-length': String(size) }
  return { name: `${file.file}${ending && `.${ending}`}`, etag, size, coding, bare, full }
}

function toDownload({ bare, full }: Sent): Pick<Sent, 'bare' | 'full'> {
  const type = { 'content-type': 'application/gzip' }
  const { 'content-encoding': _, ...plain } = full
  return { bare: { ...bare, ...type }, full: { ...plain, ...type } }
}

function chooseVariant(file: StaticFile, accepted: string | undefined): Sent {
  const { plain, br, gz } = prepare(file)
  if (br !== null && acceptsEncoding(accepted, 'br')) return br
  if (gz !== null && acceptsEncoding(accepted, 'gzip')) return gz
  return plain
}

/** `If-None-Match` compares weakly (RFC 9110 §13.1.2). */
function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return (
    header === '*' || header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag)
  )
}

/** Bytes of files kept in memory; the least recently used leave first. */
const MAX_CACHED_BYTES = 256 * 1024 * 1024

export /** Reads each file once while it fits; requests for one file at the same time share the read. */
function createFileCache<Wanted>(
  nameOf: (wanted: Wanted) => string,
  readFile: (wanted: Wanted) => Promise<Buffer>,
  maxBytes = MAX_CACHED_BYTES,
) {
  const cached = new Map<string, Promise<Buffer>>()
  let bytes = 0
  const keep = (name: string, size: number) => {
    bytes += size
    for (const [oldest, reading] of cached) {
      if (bytes <= maxBytes || oldest === name) break
      cached.delete(oldest)
      void reading.then((old) => {
        bytes -= old.length
      })
    }
  }
  return {
    read(wanted: Wanted): Promise<Buffer> {
      const name = nameOf(wanted)
      const hit = cached.get(name)
      if (hit !== undefined) {
        cached.delete(name)
        cached.set(name, hit)
        return hit
      }
      const reading = readFile(wanted)
      cached.set(name, reading)
      reading.then(
        (content) => keep(name, content.length),
        () => cached.delete(name),
      )
      return reading
    },
  }
}
