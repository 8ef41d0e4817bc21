import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ConvertToTsxResult, convertToTsx } from '@astrojs/astro2tsx'

/**
 * `npm run types`: each page is written as TSX to the place under `FOLDER` that it has in the tree, and its
 * scripts beside it. The compiler takes both folders for one, so that one run checks all code there is.
 * Faults are told where they are in the page.
 */
const FOLDER = '.cache/types'
const CONFIG = 'tsconfig.pages.json'
/** `<file>(<line>,<column>): ` */
const PLACE = /^(.+?)\((\d+),(\d+)\)(?=: )/

interface Written {
  page: string
  source: string
  code: string
  mappings: ConvertToTsxResult['mappings']
}

rmSync(FOLDER, { recursive: true, force: true })
const written = new Map<string, Written>()
const faults = globSync('src/**/*.astro').flatMap(writePage)
const compiler = fileURLToPath(
  new URL('bin/tsc', import.meta.resolve('typescript-native/package.json')),
)
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [
    compiler,
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    '.cache/types.tsbuildinfo',
    '--singleThreaded',
    '--pretty',
    'false',
    '-p',
    CONFIG,
  ],
  { encoding: 'utf8' },
)
// What a fault says further is indented.
faults.push(
  ...`${stdout}${stderr}`
    .split(/\n(?! )/)
    .filter(Boolean)
    .flatMap(toPagePlace),
)
console.log(faults.join('\n'))
if (status === null || faults.length > 0) process.exitCode = 1

/** @returns what is no page at all */
function writePage(page: string): string[] {
  const source = readFileSync(page, 'utf8')
  const { code, mappings, scripts, diagnostics } = convertToTsx(source, {
    filename: page,
    ambientTypes: true,
  })
  write(`${page}.tsx`, { page, source, code, mappings })
  for (const [n, { type, content, position }] of scripts.entries())
    if (type === 'processed-module')
      write(`${page}.${n}.mts`, {
        ...{ page, source, code: content },
        mappings: [[0, content.length, position.start, content.length, 0]],
      })
  return diagnostics.map(
    ({ message, position }) => `${placeOf(page, source, position.start)}: error: ${message}`,
  )
}

function write(path: string, file: Written): void {
  const target = join(FOLDER, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, file.code)
  written.set(target, file)
}

/** A fault as it is, or with its place in the page; none for what only the conversion wrote. */
function toPagePlace(fault: string): string[] {
  const [place, path = '', row, column] = PLACE.exec(fault) ?? ['']
  const file = written.get(path)
  if (file === undefined) return [fault]
  const { page, source, code, mappings } = file
  const before = code.split('\n').slice(0, Number(row) - 1)
  const at = before.reduce((sum, { length }) => sum + length + 1, Number(column) - 1)
  const mapped = mappings.find(([from, length]) => from <= at && at <= from + length)
  if (mapped === undefined) return []
  const [from, , origin] = mapped
  return [placeOf(page, source, origin + at - from) + fault.slice(place.length)]
}

function placeOf(page: string, source: string, at: number): string {
  const lines = source.slice(0, at).split('\n')
  return `${page}(${lines.length},${(lines.at(-1) ?? '').length + 1})`
}
