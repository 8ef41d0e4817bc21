import type { IncomingMessage, ServerResponse } from 'node:http'
import { fileHeaders } from '../../src/domain/delivery/file-headers.ts'
import type { Copies, StaticFile } from '../../src/domain/wire/static-file.ts'
import { acceptsEncoding } from '../http/accepts-encoding.ts'
import type { ReportFailure } from '../http/failure.ts'
import { sendResponse } from '../http/send-response.ts'
import { readVerified, type Variant } from './read-verified.ts'

/**
 * The compiled files of a release, answered from memory. Only addresses in the manifest exist:
 * nothing from the request ever becomes a path on disk.
 */
export interface StaticFiles {
  has(path: string): boolean
  /**
   * Answers GET and HEAD of a known path; false leaves the request to the next layer. Under another
   * `status`, such as the 404 page's, the file answers every method.
   */
  serve(req: IncomingMessage, res: ServerResponse, path: string, status?: number): boolean
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
export function createStaticFiles(folder: PublicFolder, report: ReportFailure): StaticFiles {
  const read = createFileCache((variant) => readVerified(folder.dir, variant))
  const find = createPreparation(folder)
  const send = createSender(read, report)
  return {
    has: (path) => find(path) !== null,
    serve(req, res, path, status = 200) {
      const found = find(path)
      if (found === null) return redirectSlash(res, path, folder.files)
      if (status === 200 && req.method !== 'GET' && req.method !== 'HEAD') return false
      void send(req, res, found.sent(choose(found, req)), status)
      return true
    },
    read(path) {
      const found = find(path)
      return found === null || found.isDownload ? null : read(found.sent('plain'))
    },
  }
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

function createSender(read: (sent: Sent) => Promise<Buffer>, report: ReportFailure) {
  return async function send(
    req: IncomingMessage,
    res: ServerResponse,
    sent: Sent,
    status: number,
  ): Promise<void> {
    const { bare, full, etag, name } = sent
    if (status === 200 && matchesEtag(req.headers['if-none-match'], etag)) {
      res.writeHead(304, bare).end()
      return
    }
    try {
      const bytes = sent.kept ?? (await read(sent))
      sent.wasAsked = true
      // What is wrong now may be right in a moment.
      const headers = status === 200 ? full : { ...full, 'cache-control': 'no-store' }
      res.writeHead(status, headers).end(req.method === 'HEAD' ? undefined : bytes)
    } catch (error) {
      await sendResponse(req, res, report('file.damaged', error, { file: name }))
    }
  }
}

type Coding = 'plain' | 'br' | 'gz'

/** A variant with the headers of its answers, without a body and with it, and its bytes once read. */
interface Sent extends Variant {
  etag: string
  bare: Record<string, string>
  full: Record<string, string>
  reading: Promise<Buffer> | null
  kept: Buffer | null
  /** Since the cache looked last. */
  wasAsked: boolean
}

/** What an address is answered with, the same for every request of a release. */
interface Prepared {
  file: StaticFile
  /** The address is that of the compressed copy: a dump is kept as it is fetched. */
  isDownload: boolean
  sent(coding: Coding): Sent
}

/** Made when an address is first asked for; null where there is no file. */
function createPreparation({ files, copies }: PublicFolder) {
  const prepared = new Map<string, Prepared>()
  return function find(path: string): Prepared | null {
    const known = prepared.get(path)
    if (known !== undefined) return known
    const own = files.get(path)
    const file = own ?? findDumped(files, path)
    if (file === undefined) return null
    const isDownload = own === undefined
    const codings: Partial<Record<Coding, Sent>> = {}
    const made: Prepared = {
      file,
      isDownload,
      sent: (coding) => (codings[coding] ??= toSent(made, coding, copies.get(file.file))),
    }
    prepared.set(path, made)
    return made
  }
}

function findDumped(files: PublicFolder['files'], path: string): StaticFile | undefined {
  const file = path.endsWith('.ndjson.gz') ? files.get(path.slice(0, -'.gz'.length)) : undefined
  return file !== undefined && file.gz > 0 ? file : undefined
}

function toSent({ file, isDownload }: Prepared, coding: Coding, copies?: Copies): Sent {
  const isPlain = coding === 'plain'
  const fixed = fileHeaders(file)
  const isCompressed = file.br > 0 || file.gz > 0
  const vary = [fixed.vary, isCompressed ? 'accept-encoding' : undefined].filter(
    (name) => name !== undefined,
  )
  const etag = `"${file.digest}${isPlain ? '' : `-${coding}`}"`
  const bare = {
    ...fixed,
    etag,
    ...(vary.length > 0 && { vary: vary.join(', ') }),
    ...(isDownload && { 'content-type': 'application/gzip' }),
  }
  const encoding =
    isPlain || isDownload ? {} : { 'content-encoding': coding === 'gz' ? 'gzip' : coding }
  const size = isPlain ? file.size : file[coding]
  return {
    name: `${file.file}${isPlain ? '' : `.${coding}`}`,
    size,
    digest: isPlain ? file.digest : (copies?.[coding] ?? ''),
    etag,
    bare,
    full: { ...bare, ...encoding, 'content-length': String(size) },
    reading: null,
    kept: null,
    wasAsked: false,
  }
}

function choose({ file, isDownload }: Prepared, { headers }: IncomingMessage): Coding {
  const accepted = headers['accept-encoding']
  if (isDownload) return 'gz'
  if (file.br > 0 && acceptsEncoding(accepted, 'br')) return 'br'
  return file.gz > 0 && acceptsEncoding(accepted, 'gzip') ? 'gz' : 'plain'
}

/** `If-None-Match` compares weakly (RFC 9110 §13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return (
    header === '*' || header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag)
  )
}

/** Bytes of files kept in memory; the oldest that nobody asked for since the last look leave first. */
const MAX_CACHED_BYTES = 256 * 1024 * 1024

/** Reads each file once while it fits; requests for one file at the same time share the read. */
function createFileCache(readFile: (variant: Variant) => Promise<Buffer>) {
  const cached = new Set<Sent>()
  let size = 0
  const keep = (sent: Sent, bytes: Buffer) => {
    sent.kept = bytes
    size += bytes.length
    cached.add(sent)
    for (const oldest of cached) {
      if (size <= MAX_CACHED_BYTES) return
      cached.delete(oldest)
      if (oldest.wasAsked) cached.add(oldest)
      else {
        size -= oldest.kept?.length ?? 0
        oldest.kept = null
      }
      oldest.wasAsked = false
    }
  }
  const load = async (sent: Sent) => {
    try {
      const bytes = await readFile(sent)
      keep(sent, bytes)
      return bytes
    } finally {
      sent.reading = null
    }
  }
  return (sent: Sent): Promise<Buffer> => {
    if (sent.kept !== null) return Promise.resolve(sent.kept)
    sent.reading ??= load(sent)
    return sent.reading
  }
}
