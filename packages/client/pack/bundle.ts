import { build } from 'esbuild'

const CLIENT = new URL('..', import.meta.url).pathname

/**
 * The published files, by name. The product code that the client uses is bundled; what the caller
 * brings (a wallet) is not. The command has its own copy, so that the library lacks what only the
 * command needs.
 */
export async function bundleClient(): Promise<Record<string, string>> {
  const library = ['waypost', 'waypost-error', 'lock', 'do-task']
  return {
    ...(await bundle(library.map((name) => `${CLIENT}src/${name}.ts`))),
    ...(await bundle([`${CLIENT}cli/waypost-cli.ts`])),
  }
}

async function bundle(entryPoints: string[]): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    // All entries must share the same error classes.
    splitting: true,
    chunkNames: 'part-[hash]',
    format: 'esm',
    platform: 'neutral',
    external: ['node:*'],
    conditions: ['import'],
    mainFields: ['module', 'main'],
    target: 'es2022',
    minify: true,
    // Modules are read as UTF-8 everywhere.
    charset: 'utf8',
    write: false,
    outdir: 'dist',
  })
  return Object.fromEntries(
    outputFiles.map(({ path, text }) => [path.slice(path.lastIndexOf('/') + 1), text]),
  )
}
