import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import sirv from 'sirv'
import { listen } from '../support/listen.ts'

/**
 * `static-contender.ts <folder>`: sirv as its documentation sets it up for files that are
 * compressed before. Over one file instead of a folder, `node:http` alone: it answers everything
 * with that file's bytes from one buffer, and no server on Node is faster.
 */
const [place = ''] = process.argv.slice(2)
console.log(await listen(createServer(statSync(place).isFile() ? alone() : files())))

function files() {
  const serve = sirv(place, { etag: true, gzip: true, brotli: true, extensions: ['html', 'json'] })
  return (req: Parameters<typeof serve>[0], res: Parameters<typeof serve>[1]) => serve(req, res)
}

function alone() {
  const bytes = readFileSync(place)
  return (_: unknown, res: Parameters<ReturnType<typeof files>>[1]) =>
    void res.writeHead(200, { 'content-length': bytes.length }).end(bytes)
}
