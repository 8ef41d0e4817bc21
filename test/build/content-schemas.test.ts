import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { CORE_SCHEMA, load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { toSchemaFiles } from '../../src/content/schemas.ts'

const FOLDER = 'content/schema'
const files = toSchemaFiles()

describe('the schemas for editors', () => {
  test('are all there, and nothing else is', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(files.map(({ name }) => name).sort())
  })

  test.each(files)('$name is current; if not, run "npm run schema"', ({ name, text }) => {
    expect(readFileSync(join(FOLDER, name), 'utf8')).toBe(text)
  })

  test('take what the content says', () => {
    const faults = contentFiles().flatMap(({ path, schema, data }) => {
      const isFine = compile(schema)
      return isFine(data) ? [] : [`${path}: ${JSON.stringify(isFine.errors?.[0])}`]
    })
    expect(faults).toEqual([])
  })

  const good = {
    name: 'A',
    kind: 'http_api',
    url: 'https://a.example/',
    summary: 'A.',
    sources: [{ source: 'a', ref: 'https://a.example/' }],
    added: '2026-11-20',
  }
  test.each([
    ['what is needed', {}, true],
    ['an unknown key', { stars: 5 }, false],
    ['an unknown kind', { kind: 'website' }, false],
    ['a name of 81 characters', { name: 'a'.repeat(81) }, false],
    ['a date written otherwise', { added: '20.11.2026' }, false],
    ['a price with its model unknown', { pricing: { model: 'unknown', min_usd: 1 } }, false],
    [
      'an unknown rail',
      { pricing: { model: 'per_call', min_usd: 1, max_usd: 1, rails: ['visa'], networks: [] } },
      false,
    ],
    [
      'a package without an identifier',
      { invoke: [{ kind: 'mcp_package', transport: 'stdio', registry: 'npm' }] },
      false,
    ],
  ])('of a listing, given %s: %s', (_, changes, expected) => {
    expect(compile('listing.schema.json')({ ...good, ...changes })).toBe(expected)
  })

  test('says of every field of a listing what it is', () => {
    const listing: { properties: Record<string, { description?: string }> } = JSON.parse(
      files.find(({ name }) => name === 'listing.schema.json')?.text ?? '',
    )
    for (const [field, { description }] of Object.entries(listing.properties))
      expect(description, field).toMatch(/^.{15,}[.]$/)
  })
})

const compiled = new Map<string, ReturnType<Ajv2020['compile']>>()

function compile(name: string) {
  const known = compiled.get(name)
  if (known !== undefined) return known
  const text = files.find((file) => file.name === name)?.text ?? ''
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(text))
  compiled.set(name, validate)
  return validate
}

/** Each content file with the schema its first lines name. */
function contentFiles() {
  return readdirSync('content', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:md|yaml)$/.test(path))
    .map((path) => {
      const text = readFileSync(join('content', path), 'utf8')
      const schema = /yaml-language-server: \$schema=(?:\.\.\/)+schema\/(\S+)/.exec(text)?.[1] ?? ''
      const yaml = path.endsWith('.md') ? (text.split(/^---$/m)[1] ?? '') : text
      return { path, schema, data: load(yaml, { schema: CORE_SCHEMA }) }
    })
}
