import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { type Bucket, openBucket } from '../../functions/releases/bucket.ts'

const BUCKET = 'releases'
const PREFIX = 'waypost'

/** A real server of the protocol, which checks signatures. It lacks conditional writes: they are added. */
export interface ObjectStore {
  bucket: Bucket
  url: string
  /** Called for each PUT; an answer of false refuses it. */
  onPut: (key: string) => boolean
  /** Keys of what lies there. */
  keys(): string[]
  headers(key: string): Promise<Headers>
  remove(key: string): void
  asked: string[]
  close(): Promise<void>
}

export async function startObjectStore(): Promise<ObjectStore> {
  const directory = mkdtempSync(join(tmpdir(), 'waypost-store-'))
  const s3 = new S3rver({ directory, silent: true, configureBuckets: [{ name: BUCKET }] })
  await s3.configureBuckets()
  const answer = s3.callback()
  const root = join(directory, BUCKET, PREFIX)
  const fileOf = (key: string) => join(root, `${key}._S3rver_object`)
  const server = createServer((req, res) => {
    const key = decodeURIComponent(req.url ?? '').slice(`/${BUCKET}/${PREFIX}/`.length)
    store.asked.push(`${req.method} ${key}`)
    if (req.method === 'PUT' && !store.onPut(key)) return void refuse(req, 403)
    if (req.method === 'PUT' && !mayWrite(req, fileOf(key))) return void refuse(req, 412)
    answer(req, res)
    function refuse(asked: IncomingMessage, status: number) {
      asked.resume()
      res.writeHead(status).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const url = `http://127.0.0.1:${port}`
  const store: ObjectStore = {
    url,
    bucket: openBucket(`s3://${BUCKET}/${PREFIX}`, {
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      AWS_SESSION_TOKEN: undefined,
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_S3: url,
    }),
    onPut: () => true,
    asked: [],
    keys: () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith('._S3rver_object'))
        .map((entry) =>
          join(entry.parentPath, entry.name).slice(root.length + 1, -'._S3rver_object'.length),
        ),
    headers: async (key) => (await fetch(`${url}/${BUCKET}/${PREFIX}/${key}`)).headers,
    remove: (key) => {
      for (const part of ['object', 'object.md5', 'metadata.json'])
        rmSync(join(root, `${key}._S3rver_${part}`), { force: true })
    },
    async close() {
      server.closeAllConnections()
      server.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  return store
}

/** RFC 9110 §13.1, as S3 has it for PUT. */
function mayWrite({ headers }: IncomingMessage, file: string): boolean {
  if (headers['if-none-match'] === '*') return !existsSync(file)
  const wanted = headers['if-match']
  if (wanted === undefined) return true
  return existsSync(file) && wanted.replaceAll('"', '') === readFileSync(`${file}.md5`, 'utf8')
}
