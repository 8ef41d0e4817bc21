import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { StaticFile } from '../../src/domain/wire/static-file.ts'
import { acceptsEncoding } from './accepts-encoding.ts'
import { createFileCache } from './file-cache.ts'
import { fileHeaders } from './file-headers.ts'

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
  /** The uncompressed bytes of a known address, for whoever says the same in another protocol. */
  read(path: string): Promise<Buffer> | null
}

interface Variant {
  name: string
  etag: string
  size: number
  coding: string | null
}

/** @param files by the address each answers on, see `toUrlPath` */
export function createStaticFiles(
  dir: string,
  files: ReadonlyMap<string, StaticFile>,
): StaticFiles {
  const cache = createFileCache((name) => readFile(join(dir, name)))
  return {
    has: (path) => files.has(path),
    serve(req, res, path) {
      const file = files.get(path)
      if (file === undefined) return redirectSlash(res, path, files)
      if (req.method === 'OPTIONS') return answerPreflight(res)
      if (req.method !== 'GET' && req.method !== 'HEAD') return false
      void send(req, res, { file, status: 200, read: cache.read })
      return true
    },
    serveAs(req, res, path, status) {
      const file = files.get(path)
      if (file === undefined) return false
      void send(req, res, { file, status, read: cache.read })
      return true
    },
    read(path) {
      const file = files.get(path)
      return file === undefined ? null : cache.read(file.file)
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

interface Sending {
  file: StaticFile
  status: number
  read: (name: string) => Promise<Buffer>
}

async function send(
  req: IncomingMessage,
  res: ServerResponse,
  { file, status, read }: Sending,
): Promise<void> {
  const variant = chooseVariant(file, req.headers['accept-encoding'])
  const isCompressed = file.br > 0
  const headers = {
    ...fileHeaders(file),
    etag: variant.etag,
    ...(isCompressed && { vary: 'accept-encoding' }),
  }
  if (status === 200 && matchesEtag(req.headers['if-none-match'], variant.etag)) {
    res.writeHead(304, headers).end()
    return
  }
  try {
    const bytes = req.method === 'HEAD' ? undefined : await read(variant.name)
    const coding = variant.coding === null ? {} : { 'content-encoding': variant.coding }
    res.writeHead(status, { ...headers, ...coding, 'content-length': variant.size }).end(bytes)
  } catch {
    // The release was removed under a very late request; the connection says so more plainly than a body.
    res.destroy()
  }
}

function chooseVariant(file: StaticFile, accepted: string | undefined): Variant {
  if (file.br > 0 && acceptsEncoding(accepted, 'br'))
    return { name: `${file.file}.br`, etag: `"${file.digest}-br"`, size: file.br, coding: 'br' }
  if (file.gz > 0 && acceptsEncoding(accepted, 'gzip'))
    return { name: `${file.file}.gz`, etag: `"${file.digest}-gz"`, size: file.gz, coding: 'gzip' }
  return { name: file.file, etag: `"${file.digest}"`, size: file.size, coding: null }
}

/** `If-None-Match` compares weakly (RFC 9110 §13.1.2). */
function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return (
    header === '*' || header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag)
  )
}
