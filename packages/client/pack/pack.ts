import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleClient } from './bundle.ts'
import { toApiTypes } from './to-api-types.ts'

/** Run first by `npm pack`: JavaScript for Node 20.3 or newer, with its types. */
const CLIENT = new URL('..', import.meta.url).pathname
const PRODUCT = join(CLIENT, '../..')
const DIST = join(CLIENT, 'dist')
/** A third of the time of the compiler that is written in JavaScript. */
const COMPILER = join(PRODUCT, 'node_modules/typescript-native/bin/tsc')

rmSync(DIST, { recursive: true, force: true })
mkdirSync(DIST, { recursive: true })
for (const [name, text] of Object.entries(await bundleClient()))
  writeFileSync(join(DIST, name), text)
chmodSync(join(DIST, 'waypost-cli.js'), 0o755)
writeTypes(join(CLIENT, 'src'), join(DIST, 'types'))
writeFileSync(join(DIST, 'types/answers.d.ts'), toApiTypes())

/** Declarations of the client's own files: they name nothing of the product's other rooms. */
function writeTypes(source: string, target: string): void {
  const printed = mkdtempSync(join(tmpdir(), 'waypost-types-'))
  const options = {
    outDir: printed,
    rootDir: PRODUCT,
    target: 'es2022',
    module: 'nodenext',
    lib: 'es2024,dom,dom.iterable',
    types: '',
  }
  const flags = [
    ...['ignoreConfig', 'strict', 'declaration', 'emitDeclarationOnly', 'skipLibCheck'],
    // `npm run types` has checked them.
    ...['noCheck', 'allowImportingTsExtensions', 'rewriteRelativeImportExtensions'],
  ]
  execFileSync(process.execPath, [
    COMPILER,
    ...flags.map((flag) => `--${flag}`),
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    ...[join(source, 'waypost.ts'), join(source, 'do-task.ts')],
  ])
  mkdirSync(target, { recursive: true })
  const own = join(printed, 'packages/client/src')
  for (const name of readdirSync(own)) {
    const text = readFileSync(join(own, name), 'utf8')
    // TypeScript looks for the declarations next to the JavaScript of that name.
    writeFileSync(join(target, name), text.replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'"))
  }
  rmSync(printed, { recursive: true })
}
