import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { findContentType } from '../../src/domain/wire/published-files.ts'
import { FIXTURE_ENV } from './fixture-env.ts'
import { closeServer, listen } from './listen.ts'

/**
 * A host of files: `public/` of the fixture release, `x.html` and `x/index.html` for `/x`, else 404.
 * @param over a folder whose files stand in the place of the release's
 */
export async function startStaticHost(
  over?: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const release = resolve(FIXTURE_ENV.OUT_DIR, 'current/public')
  const roots = over === undefined ? [release] : [over, release]
  const server = createServer((req, res) => {
    const path = new URL(req.url ?? '/', 'http://x').pathname
    const file = roots
      .flatMap((root) => ['', '.html', '/index.html'].map((end) => join(root, `${path}${end}`)))
      .find((each) => statSync(each, { throwIfNoEntry: false })?.isFile())
    const type = file === undefined ? 'text/html' : findContentType(file)
    res.writeHead(file === undefined ? 404 : 200, { 'content-type': type })
    res.end(file === undefined ? '<h1>Not here</h1>' : readFileSync(file))
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => closeServer(server),
  }
}
