import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

/** Node's own server and nothing else: it answers whatever is asked with the one file it is given. */
const [, , path = '', port = '0', coding = ''] = process.argv
const body = readFileSync(path)
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'public, max-age=60',
  etag: '"0123456789abcdef"',
  vary: 'accept, accept-encoding',
  ...(coding !== '' && { 'content-encoding': coding }),
  'content-length': String(body.length),
}
createServer((_, res) => void res.writeHead(200, headers).end(body)).listen(
  Number(port),
  '127.0.0.1',
)
