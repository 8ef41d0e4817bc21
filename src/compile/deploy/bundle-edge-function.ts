import { join } from 'node:path'
import { build } from 'esbuild'
import type { ReleaseFile } from '../../domain/derived/release-file.ts'

const ROOT = join(import.meta.dirname, '../../..')
const EDGE = join(ROOT, 'functions/edge')

/**
 * The search as one file for a function host: an ES module that exports `{ fetch(request, env) }` and
 * has no import left. Nothing of Node is in it: a server's compression is left out, and its `Buffer`
 * replaced.
 * @param release the parts of the release file that answers repeat
 */
export async function bundleSearch(
  release: Pick<ReleaseFile, 'base_url' | 'texts' | 'also_search'>,
): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(EDGE, 'edge-function.ts')],
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2023',
    logLevel: 'silent',
    absWorkingDir: ROOT,
    define: { RELEASE: JSON.stringify(release) },
    inject: [join(EDGE, 'buffer.ts')],
    plugins: [
      {
        name: 'without compression',
        setup({ onResolve }) {
          onResolve({ filter: /\/write-gzip-response\.ts$/ }, () => ({
            path: join(EDGE, 'no-compression.ts'),
          }))
        },
      },
    ],
  })
  const [bundle] = outputFiles
  if (bundle === undefined) throw new Error('esbuild wrote no file')
  return bundle.contents
}
