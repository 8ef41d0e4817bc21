import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/**
 * A wallet module of a buyer's own, with the payment packages inside: each command reads one file and
 * not a thousand, which took ten times as long.
 *
 * @param source written as if it stood in this folder, where the packages are
 */
export async function writeWallet(source: string): Promise<{ file: string; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'waypost-wallet-'))
  const file = join(folder, 'wallet.mjs')
  await build({
    stdin: { contents: source, resolveDir: HERE },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: file,
  })
  return { file, remove: () => rmSync(folder, { recursive: true }) }
}
