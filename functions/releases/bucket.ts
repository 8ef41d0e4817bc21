import { AwsClient } from 'aws4fetch'
import { Agent, type Dispatcher, interceptors } from 'undici'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import type { Config } from '../ports/config.ts'

/** Where releases are stored: an S3-compatible store and a prefix. Keys are below that prefix. */
export interface Bucket {
  /** Null for a missing object; 'same' while the object still has this ETag. */
  get(key: string, etag?: string): Promise<{ bytes: Buffer; etag: string } | 'same' | null>
  put(key: string, bytes: Uint8Array, headers: Record<string, string>): Promise<void>
  /**
   * Writes only where the object still has this ETag, or does not exist yet (null).
   * @returns false where somebody else wrote it meanwhile
   */
  replace(key: string, bytes: Uint8Array, etag: string | null): Promise<boolean>
  remove(key: string): Promise<void>
  /** Every key with this prefix. */
  keys(beginning: string): Promise<Set<string>>
}

/** A store silent for this long is unreachable (milliseconds); an index may take minutes. */
const IDLE_TIMEOUT_MS = 60_000
/** Transient failures are retried: 429, 5xx and broken connections. */
const RETRIES = { maxRetries: 4, throwOnError: false }
const TIMEOUTS = { headersTimeout: IDLE_TIMEOUT_MS, bodyTimeout: IDLE_TIMEOUT_MS }
const CHANGED_MEANWHILE = [409, 412]

export type BucketConfig = Pick<
  Config,
  | 'AWS_ACCESS_KEY_ID'
  | 'AWS_SECRET_ACCESS_KEY'
  | 'AWS_SESSION_TOKEN'
  | 'AWS_REGION'
  | 'AWS_ENDPOINT_URL_S3'
>

/**
 * @param address `s3://bucket/prefix`
 * @throws OperatorError when keys are missing; each method throws one naming what was refused
 */
export function openBucket(address: string, config: BucketConfig): Bucket {
  const { root, prefix } = locate(address, config)
  const ask = createRequests(address, root, config)
  return {
    async get(key, etag) {
      const headers: Record<string, string> = etag === undefined ? {} : { 'If-None-Match': etag }
      const { statusCode, ...rest } = await ask('GET', `${prefix}${key}`, { headers }, [304, 404])
      const bytes = Buffer.from(await rest.body.arrayBuffer())
      if (statusCode === 304) return 'same'
      return statusCode === 404 ? null : { bytes, etag: String(rest.headers.etag ?? '') }
    },
    async put(key, bytes, headers) {
      const init = { body: Buffer.from(bytes), headers }
      await (await ask('PUT', `${prefix}${key}`, init)).body.dump()
    },
    async replace(key, bytes, etag) {
      const condition = etag === null ? { 'If-None-Match': '*' } : { 'If-Match': etag }
      const init = {
        body: Buffer.from(bytes),
        headers: { ...condition, 'Cache-Control': 'no-cache' },
      }
      const { statusCode, body } = await ask('PUT', `${prefix}${key}`, init, CHANGED_MEANWHILE)
      await body.dump()
      return !CHANGED_MEANWHILE.includes(statusCode)
    },
    async remove(key) {
      await (await ask('DELETE', `${prefix}${key}`)).body.dump()
    },
    async keys(beginning) {
      const found = new Set<string>()
      for (let next: string | undefined = ''; next !== undefined; ) {
        const query = new URLSearchParams({ 'list-type': '2', prefix: `${prefix}${beginning}` })
        if (next !== '') query.set('continuation-token', next)
        const text = await (await ask('GET', `?${query}`)).body.text()
        // Our keys are plain ASCII: nothing in them is escaped.
        for (const [, key = ''] of text.matchAll(/<Key>([^<]*)<\/Key>/g))
          found.add(key.slice(prefix.length))
        next = /<NextContinuationToken>([^<]+)</.exec(text)?.[1]
      }
      return found
    },
  }
}

interface Init {
  body?: Buffer<ArrayBuffer>
  headers?: Record<string, string>
}

/**
 * Signed requests; a status that is neither good nor expected is an error. With undici directly:
 * its `fetch` would decompress compressed objects.
 */
function createRequests(address: string, root: string, config: BucketConfig) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = config
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new OperatorError(`${address} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`)
  const signer = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(config.AWS_SESSION_TOKEN && { sessionToken: config.AWS_SESSION_TOKEN }),
    region: config.AWS_REGION,
    service: 's3',
  })
  const dispatcher = new Agent(TIMEOUTS).compose(interceptors.retry(RETRIES))
  return async (
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    { body, headers = {} }: Init = {},
    expected: readonly number[] = [],
  ): Promise<Dispatcher.ResponseData> => {
    const url = `${root}/${path}`
    const { origin } = new URL(url)
    const signed = await signer.sign(url, { method, headers, ...(body && { body }) })
    const response = await dispatcher
      .request({
        origin,
        path: url.slice(origin.length),
        method,
        headers: Object.fromEntries(signed.headers),
        body: body ?? null,
      })
      .catch((error: unknown) => String(error))
    const status = typeof response === 'string' ? response : response.statusCode
    if (typeof response !== 'string' && (Number(status) < 300 || expected.includes(Number(status))))
      return response
    throw new OperatorError(`${address} refused ${method} ${path}: ${status}.`)
  }
}

function locate(address: string, { AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION }: BucketConfig) {
  const [bucket = '', ...folders] = address.slice('s3://'.length).split('/')
  const path = folders.filter((folder) => folder !== '').join('/')
  const root =
    endpoint === undefined
      ? `https://${bucket}.s3.${AWS_REGION}.amazonaws.com`
      : `${endpoint.replace(/\/$/, '')}/${bucket}`
  return { root, prefix: path === '' ? '' : `${path}/` }
}
