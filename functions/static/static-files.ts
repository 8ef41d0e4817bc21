import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { fileHeaders } from '../../src/domain/delivery/file-headers.ts'
import { isDumpCopy, type StaticFile, toUrlPath } from '../../src/domain/wire/static-file.ts'
import { type Coding, hasCopies } from '../../src/store/compress.ts'
import { acceptsEncoding } from '../http/accepts-encoding.ts'
import type { ReportFailure } from '../http/failure.ts'
import { sendResponse } from '../http/send-response.ts'
import type { ObjectCache, Sendable } from './object-cache.ts'

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

/** What a release publishes, by the address each file answers on, see `toUrlPath`. */
export type PublicFiles = ReadonlyMap<string, StaticFile>

/**
 * A file is read and verified when it is first requested; one that differs from what was published
 * is a 500 in the log, never a short body.
 */
export function createStaticFiles(
  files: PublicFiles,
  cache: ObjectCache,
  report: ReportFailure,
): StaticFiles {
  const find = createPreparation(files)
  const send = createSender(cache, report)
  return {
    has: (path) => find(path) !== null,
    serve(req, res, path, status = 200) {
      const found = find(path)
      if (found === null) return redirectSlash(res, path, files)
      if (status === 200 && req.method !== 'GET' && req.method !== 'HEAD') return false
      void send(req, res, found.sent(choose(found, req)), status)
      return true
    },
    read(path) {
      const found = find(path)
      if (found === null || found.isDownload) return null
      const plain = found.sent('plain')
      return Promise.resolve(cache.peek(plain) ?? cache.read(plain))
    },
  }
}

/** Canonical addresses have no trailing slash; only a known address is ever redirected to. */
function redirectSlash(res: ServerResponse, path: string, files: PublicFiles): boolean {
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

function createSender(cache: ObjectCache, report: ReportFailure) {
  return async function send(
    req: IncomingMessage,
    res: ServerResponse,
    sent: Sent,
    status: number,
  ): Promise<void> {
    if (status === 200 && matchesEtag(req.headers['if-none-match'], sent.etag)) {
      res.writeHead(304, sent.bare).end()
      return
    }
    try {
      if (cache.isLong(sent)) return await sendLong(req, res, sent)
      const bytes = cache.peek(sent) ?? (await cache.read(sent))
      sent.full ??= toFull(sent, bytes.length)
      // What fails now may work in a moment.
      const headers = status === 200 ? sent.full : { ...sent.full, 'cache-control': 'no-store' }
      res.writeHead(status, headers).end(req.method === 'HEAD' ? undefined : bytes)
    } catch (error) {
      await sendResponse(req, res, report('file.damaged', error, { file: sent.file }))
    }
  }
  async function sendLong(req: IncomingMessage, res: ServerResponse, sent: Sent): Promise<void> {
    const file = await cache.open(sent)
    res.writeHead(200, toFull(sent, sent.size))
    if (req.method === 'HEAD') {
      res.end()
      return file.close()
    }
    // A client that leaves ends it, and so does a failing disk: the length shows it to the client.
    await pipeline(file.createReadStream({ start: 0 }), res).catch(() => res.destroy())
  }
}

type Choice = 'plain' | Coding

/** The answer for an address in one coding, the same for every request of a release. */
interface Sent extends Sendable {
  file: string
  etag: string
  encoding: 'br' | 'gzip' | null
  /** Headers of an answer without a body. */
  bare: Record<string, string>
  /** Headers of an answer with a body, once its length is known. */
  full?: Record<string, string>
}

function toFull({ bare, encoding }: Sent, length: number): Record<string, string> {
  return {
    ...bare,
    ...(encoding !== null && { 'content-encoding': encoding }),
    'content-length': String(length),
  }
}

interface Prepared {
  choices: readonly Choice[]
  /** The address is that of the compressed copy: a dump is saved as it is fetched. */
  isDownload: boolean
  sent(choice: Choice): Sent
}

/** Made when an address is first requested; null without a file. */
function createPreparation(files: PublicFiles) {
  const prepared = new Map<string, Prepared>()
  return function find(path: string): Prepared | null {
    const known = prepared.get(path)
    if (known !== undefined) return known
    const isDownload = isDumpCopy(path)
    const file = files.get(isDownload ? path.slice(0, -'.gz'.length) : path)
    if (file === undefined) return null
    const copy = files.get(`${toUrlPath(file.file)}.gz`)
    const choices = toChoices(file, copy)
    const sent: Partial<Record<Choice, Sent>> = {}
    const made: Prepared = {
      choices,
      isDownload,
      sent: (choice) => (sent[choice] ??= toSent({ file, copy, choice, isDownload, choices })),
    }
    prepared.set(path, made)
    return made
  }
}

/** Encodings in which a file may be sent, the smallest first. */
function toChoices({ file, size }: StaticFile, copy: StaticFile | undefined): Choice[] {
  if (copy !== undefined) return ['gz', 'plain']
  return hasCopies(file, size) ? ['br', 'gz', 'plain'] : ['plain']
}

interface Choosing extends Pick<Prepared, 'choices' | 'isDownload'> {
  file: StaticFile
  copy: StaticFile | undefined
  choice: Choice
}

function toSent({ file, copy, choice, choices, isDownload }: Choosing): Sent {
  const isPlain = choice === 'plain'
  const fixed = fileHeaders(file)
  const vary = [fixed.vary, choices.length > 1 ? 'accept-encoding' : undefined].filter(
    (name) => name !== undefined,
  )
  const etag = `"${file.digest.slice(0, ETAG_DIGITS)}${isPlain ? '' : `-${choice}`}"`
  const bare = {
    ...fixed,
    etag,
    ...(vary.length > 0 && { vary: vary.join(', ') }),
    ...(isDownload && { 'content-type': 'application/gzip' }),
  }
  const { digest, size } = isPlain ? file : (copy ?? file)
  const coding = isPlain || copy !== undefined ? null : choice
  return {
    file: file.file,
    name: coding === null ? digest : `${digest}.${coding}`,
    digest,
    size,
    coding,
    etag,
    encoding: isPlain || isDownload ? null : choice === 'gz' ? 'gzip' : choice,
    bare,
  }
}

const ETAG_DIGITS = 32

function choose({ choices, isDownload }: Prepared, { headers }: IncomingMessage): Choice {
  if (isDownload) return 'gz'
  if (choices.length === 1) return 'plain'
  const accepted = headers['accept-encoding']
  if (choices[0] === 'br' && acceptsEncoding(accepted, 'br')) return 'br'
  return acceptsEncoding(accepted, 'gzip') ? 'gz' : 'plain'
}

/** `If-None-Match` compares weakly (RFC 9110 §13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return (
    header === '*' || header.split(',').some((part) => part.trim().replace(/^W\//, '') === etag)
  )
}
