import type { IncomingMessage, ServerResponse } from 'node:http'
import { fileHeaders } from '../../src/domain/delivery/file-headers.ts'
import type { Copies, StaticFile } from '../../src/domain/wire/static-file.ts'
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

/** What a release publishes: its folder, and what it says of each file there. */
export interface PublicFolder {
  dir: string
  /** By the address each answers on, see `toUrlPath`. */
  files: ReadonlyMap<string, StaticFile>
  /** What compressed neighbours hash to, by the file's path. */
  copies: ReadonlyMap<string, Copies>
}

/**
 * A file is read and verified when it is first asked for; one that is not what was published is a
 * 500 in the log, never a short body.
 */
export function createStaticFiles(
  { dir, files, copies }: PublicFolder,
  report: ReportFailure,
): StaticFiles {
  const read = createFileCache((variant) => readVerified(dir, variant))
  const prepare = createPreparation(copies)
  const send = createSender(read, report)
  return {
    has: (path) => files.has(path) || findDownload(files, path) !== undefined,
    serve(req, res, path) {
      const download = findDownload(files, path)
      const file = files.get(path) ?? download
      if (file === undefined) return redirectSlash(res, path, files)
      if (req.method !== 'GET' && req.method !== 'HEAD') return false
      const prepared = prepare(file)
      void send(req, res, file === download ? toDownload(prepared) : choose(prepared, req), 200)
      return true
    },
    serveAs(req, res, path, status) {
      const file = files.get(path)
      if (file === undefined) return false
      void send(req, res, choose(prepare(file), req), status)
      return true
    },
    read(path) {
      const file = files.get(path)
      return file === undefined ? null : read(prepare(file).plain)
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

function createSender(read: (variant: Variant) => Promise<Buffer>, report: ReportFailure) {
  return async function send(
    req: IncomingMessage,
    res: ServerResponse,
    variant: Sent,
    status: number,
  ): Promise<void> {
    const { bare, full, etag, name } = variant
    if (status === 200 && matchesEtag(req.headers['if-none-match'], etag)) {
      res.writeHead(304, bare).end()
      return
    }
    try {
      const bytes = await read(variant)
      // What is wrong now may be right in a moment.
      const headers = status === 200 ? full : { ...full, 'cache-control': 'no-store' }
      res.writeHead(status, headers).end(req.method === 'HEAD' ? undefined : bytes)
    } catch (error) {
      await sendResponse(req, res, report('file.damaged', error, { file: name }))
    }
  }
}

/** A variant with the headers of its answers, without a body and with it. */
interface Sent extends Variant {
  etag: string
  bare: Record<string, string>
  full: Record<string, string>
}

/** What a file is sent as, by coding: the same for every request of a release. */
type Prepared = Record<'plain', Sent> & Record<'br' | 'gz', Sent | null>

/** Made when a file is first asked for. */
function createPreparation(copies: PublicFolder['copies']) {
  const prepared = new Map<StaticFile, Prepared>()
  return function prepare(file: StaticFile): Prepared {
    const known = prepared.get(file)
    if (known !== undefined) return known
    const { size, br, gz, digest } = file
    const of = copies.get(file.file)
    const made = {
      plain: toSent(file, null, { size, digest, ending: '' }),
      br: br > 0 ? toSent(file, 'br', { size: br, digest: of?.br, ending: 'br' }) : null,
      gz: gz > 0 ? toSent(file, 'gzip', { size: gz, digest: of?.gz, ending: 'gz' }) : null,
    }
    prepared.set(file, made)
    return made
  }
}

function toSent(
  file: StaticFile,
  coding: 'br' | 'gzip' | null,
  { size, digest = '', ending }: { size: number; digest?: string | undefined; ending: string },
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
  return { name: `${file.file}${ending && `.${ending}`}`, etag, size, digest, bare, full }
}

/** The compressed copy itself is what was asked for. */
function toDownload({ gz, plain: none }: Prepared): Sent {
  const sent = gz ?? none
  const type = { 'content-type': 'application/gzip' }
  const { 'content-encoding': _, ...plain } = sent.full
  return { ...sent, bare: { ...sent.bare, ...type }, full: { ...plain, ...type } }
}

function choose({ plain, br, gz }: Prepared, { headers }: IncomingMessage): Sent {
  const accepted = headers['accept-encoding']
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

/** Reads each file once while it fits; requests for one file at the same time share the read. */
function createFileCache(readFile: (variant: Variant) => Promise<Buffer>) {
  const cached = new Map<string, Promise<Buffer>>()
  let bytes = 0
  const keep = (name: string, size: number) => {
    bytes += size
    for (const [oldest, reading] of cached) {
      if (bytes <= MAX_CACHED_BYTES || oldest === name) break
      cached.delete(oldest)
      void reading.then((old) => {
        bytes -= old.length
      })
    }
  }
  return function read(variant: Variant): Promise<Buffer> {
    const { name } = variant
    const hit = cached.get(name)
    if (hit !== undefined) {
      cached.delete(name)
      cached.set(name, hit)
      return hit
    }
    const reading = readFile(variant)
    cached.set(name, reading)
    reading.then(
      (content) => keep(name, content.length),
      () => cached.delete(name),
    )
    return reading
  }
}
