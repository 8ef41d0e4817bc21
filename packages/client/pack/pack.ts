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
import { createOpenApi } from '../../../src/build/openapi/create-openapi.ts'
import { bundleClient } from './bundle.ts'

/** Builds the package before `npm pack`: JavaScript for Node 20.3 or newer, with its types. */
const CLIENT = new URL('..', import.meta.url).pathname
const PRODUCT = join(CLIENT, '../..')
const DIST = join(CLIENT, 'dist')
/** This compiler takes a third of the time of the one written in JavaScript; of several threads, each loads all types. */
const COMPILER = join(PRODUCT, 'node_modules/typescript-native/bin/tsc')
/** The file that the package replaces: components named in it are published, with their references. */
const ANSWERS = readFileSync(join(CLIENT, 'src/answers.ts'), 'utf8')

/** Maps a type's name to the path of the GET whose query it describes. */
const PARAMETERS = {
  SearchParameters: '/api/v1/search',
  ChangesParameters: '/api/v1/changes',
  LintParameters: '/api/v1/lint',
}

rmSync(DIST, { recursive: true, force: true })
mkdirSync(DIST, { recursive: true })
for (const [name, text] of Object.entries(await bundleClient()))
  writeFileSync(join(DIST, name), text)
chmodSync(join(DIST, 'waypost-cli.js'), 0o755)
writeTypes(join(CLIENT, 'src'), join(DIST, 'types'))
writeFileSync(join(DIST, 'types/answers.d.ts'), toApiTypes())

/** Writes declarations for the client's own files, which refer to no other folder of the product. */
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
    // `npm run types` has checked the sources.
    ...['noCheck', 'allowImportingTsExtensions', 'rewriteRelativeImportExtensions'],
  ]
  execFileSync(process.execPath, [
    ...[COMPILER, '--singleThreaded'],
    ...flags.map((flag) => `--${flag}`),
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    ...[join(source, 'waypost.ts'), join(source, 'do-task.ts')],
  ])
  mkdirSync(target, { recursive: true })
  const own = join(printed, 'packages/client/src')
  for (const name of readdirSync(own)) {
    const text = readFileSync(join(own, name), 'utf8')
    // TypeScript looks for declarations next to the JavaScript file of the same name.
    writeFileSync(join(target, name), text.replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'"))
  }
  rmSync(printed, { recursive: true })
}

/**
 * TypeScript types from the published OpenAPI document: its own schemas are the only source, so
 * that a client cannot promise what the service doesn't publish. Covers the part of JSON Schema
 * that our schemas use, and fails on anything it does not know.
 */
type Schema = Record<string, unknown>

interface Parameter {
  name: string
  in: string
  required?: boolean
  description: string
  schema: Schema
}

interface PublishedApi {
  paths: Record<string, Record<string, { parameters: Parameter[] }>>
  components: { schemas: Record<string, Schema> }
}

/** The package's declarations in place of `src/answers.ts`, whose types come from schemas. */
function toApiTypes(): string {
  // Through JSON and back, so that the types describe exactly what is published.
  const { paths, components }: PublishedApi = JSON.parse(
    JSON.stringify(
      createOpenApi('https://waypost.example', { name: 'Waypost', strapline: '', reading: '' }),
    ),
  )
  const { schemas } = components
  return [
    ...Object.entries(PARAMETERS).map(([name, path]) =>
      toParametersType(name, paths[path]?.get?.parameters ?? []),
    ),
    ...findReferred(namesOf(ANSWERS), schemas).map((name) =>
      toComponentType(name, schemas[name] ?? {}),
    ),
  ].join('\n')
}

function namesOf(file: string): string[] {
  return [...file.matchAll(/^export type (\w+) = \w+<.*'\1'/gm)].map(([, name = '']) => name)
}

function findReferred(roots: readonly string[], schemas: Record<string, Schema>): string[] {
  const found = new Set<string>()
  const queue = [...roots]
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    if (found.has(name)) continue
    const schema = schemas[name]
    if (schema === undefined) throw new Error(`the document has no schema ${name}`)
    found.add(name)
    const refs = JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)
    for (const [, ref = ''] of refs) queue.push(ref)
  }
  return [...found].sort()
}

function toParametersType(name: string, parameters: readonly Parameter[]): string {
  const lines = parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, required = false, description, schema }) => [
      `  /** ${description.replaceAll('*/', '* /')} */`,
      `  ${toKey(name)}${required ? '' : '?'}: ${toType(schema)}${required ? '' : ' | undefined'}`,
    ])
  return [`export interface ${name} {`, ...lines, '}', ''].join('\n')
}

function toComponentType(name: string, schema: Schema): string {
  if (schema.type !== 'object' || !isRecord(schema.properties))
    return `export type ${name} = ${toType(schema)}\n`
  return [
    `export interface ${name} {`,
    ...toMembers(schema).map((line) => `  ${line}`),
    '}',
    '',
  ].join('\n')
}

function toMembers({ properties, required, additionalProperties }: Schema): string[] {
  const needed = Array.isArray(required) ? required : []
  const members = Object.entries(isRecord(properties) ? properties : {}).map(
    ([name, schema]) => `${toKey(name)}${needed.includes(name) ? '' : '?'}: ${toType(schema)}`,
  )
  const others = isRecord(additionalProperties) ? toType(additionalProperties) : null
  return others === null ? members : [...members, `[name: string]: ${others}`]
}

function toType(schema: unknown): string {
  if (!isRecord(schema)) return 'unknown'
  const { $ref, const: constant, enum: values, anyOf, oneOf, allOf, type } = schema
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1)
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ')
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return [...new Set(choices.map(toType))].join(' | ')
  if (Array.isArray(allOf)) return allOf.map(toPart).join(' & ')
  if (type === 'array') return schema.maxItems === 0 ? '[]' : `${toPart(schema.items)}[]`
  if (type === 'object') return toObjectType(schema)
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'number' || type === 'integer') return 'number'
  if (type === undefined) return 'unknown'
  throw new Error(`no TypeScript for the schema ${JSON.stringify(schema).slice(0, 200)}`)
}

function toObjectType(schema: Schema): string {
  const members = toMembers(schema)
  return members.length === 0 ? 'Record<string, unknown>' : `{ ${members.join('; ')} }`
}

/** A union needs parentheses if an operator binds tighter. */
function toPart(schema: unknown): string {
  const type = toType(schema)
  return type.includes(' | ') ? `(${type})` : type
}

function toKey(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
}

function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
