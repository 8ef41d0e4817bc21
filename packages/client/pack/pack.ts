import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import ts from 'typescript'
import { bundleClient } from './bundle.ts'
import { toApiTypes } from './to-api-types.ts'

/** What `npm pack` runs first: JavaScript that any Node of 20.3 or newer takes, with its types. */
const CLIENT = new URL('..', import.meta.url).pathname
const DIST = join(CLIENT, 'dist')

rmSync(DIST, { recursive: true, force: true })
mkdirSync(DIST, { recursive: true })
for (const [name, text] of Object.entries(await bundleClient()))
  writeFileSync(join(DIST, name), text)
chmodSync(join(DIST, 'waypost-cli.js'), 0o755)
writeTypes(join(CLIENT, 'src'), join(DIST, 'types'))
writeFileSync(join(DIST, 'types/answers.d.ts'), toApiTypes())

/** Declarations of the client's own files: they name nothing of the product's other rooms. */
function writeTypes(source: string, target: string): void {
  const program = ts.createProgram([join(source, 'waypost.ts'), join(source, 'do-task.ts')], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    strict: true,
    declaration: true,
    emitDeclarationOnly: true,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    rootDir: join(CLIENT, '../..'),
  })
  for (const file of program.getSourceFiles()) {
    const place = relative(source, file.fileName)
    if (place.startsWith('..') || file.isDeclarationFile) continue
    program.emit(file, (_, text) => {
      const path = join(target, place, '..', `${basename(place, '.ts')}.d.ts`)
      mkdirSync(join(path, '..'), { recursive: true })
      // Readers look for the declarations beside the JavaScript of that name.
      writeFileSync(path, text.replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'"))
    })
  }
}
