import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  exampleOf,
  findSchemaFault,
  findValueFault,
  isWithin,
  mapSchema,
  toPlaceholder,
} from '../../src/domain/listing/json-schema.ts'

describe('a schema in content', () => {
  test.each([
    [{ type: 'string' }, null],
    [{ $defs: { a: { type: 'string' } }, properties: { a: { $ref: '#/$defs/a' } } }, null],
    [{ properties: { $id: { type: 'string' } } }, null],
    [{ pattern: '^[a-z]{2}-[0-9]+$' }, null],
    [{ pattern: '^(?:a|b)$' }, null],
    [{ type: 'text' }, /expected type to be one of string/],
    [
      { $ref: 'https://seller.example/schema.json' },
      /expected \$ref to name a place in this schema/,
    ],
    [{ $ref: '#/$defs/gone' }, /expected \$ref to name a place in this schema/],
    [{ $ref: '#/__proto__' }, /expected \$ref to name a place in this schema/],
    [{ $id: 'https://seller.example/' }, /expected no \$id/],
    [{ properties: [] }, /expected each subschema/],
    [{ required: 'q' }, /expected required to be a list of names/],
    [{ minLength: 'two' }, /expected minLength to be a number/],
    [{ pattern: '(' }, /expected a pattern that is a regular expression/],
    [{ pattern: '^(a+)+$' }, /always matched quickly/],
    [{ pattern: '^(a|a)*$' }, /always matched quickly/],
    [{ pattern: '^(?:(a{1,9}){1,9}){1,9}$' }, /always matched quickly/],
    [{ pattern: '(a)\\1' }, /always matched quickly/],
    [{ pattern: 'a*b*c*d*e' }, /always matched quickly/],
    [{ patternProperties: { '^(a+)+$': {} } }, /always matched quickly/],
    [{ enum: Array.from({ length: 3000 }, (_, i) => i) }, /at most 2000 values/],
    [nested(40), /at most 2000 values, nested at most 32 levels deep/],
  ])('%j', (schema, fault) => {
    const found = findSchemaFault(schema)
    if (fault === null) expect(found).toBeNull()
    else expect(found).toMatch(fault)
  })
})

test.each([
  [{}, true],
  [{ depth: 2 }, false],
  [{ nodes: 3 }, false],
  [{ characters: 2 }, false],
])('a value of three levels, four nodes and three characters within %j: %s', (bound, is) => {
  const exact = { depth: 3, nodes: 4, characters: 3 }
  expect(isWithin({ a: [1, 'xy'] }, { ...exact, ...bound })).toBe(is)
})

describe('an example against its schema', () => {
  const SEARCH = {
    type: 'object',
    required: ['q'],
    properties: { q: { type: 'string', minLength: 2 }, limit: { type: 'integer', maximum: 50 } },
    additionalProperties: false,
  }

  test.each([
    [SEARCH, { q: 'cats' }, null],
    [SEARCH, {}, /does not have required property "q"/],
    [SEARCH, { q: 'cats', limit: 51 }, /at limit: 51 is greater than 50/],
    [SEARCH, { q: 'cats', lang: 'en' }, /at lang/],
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, 7, /is invalid/],
    [{ properties: { child: { $ref: '#' } } }, { child: { child: {} } }, null],
    [{ $ref: '#' }, 1, /refers to itself without end/],
    [{ allOf: [{ $ref: '#' }] }, 1, /refers to itself without end/],
    [doubling(60), 1, /fewer references/],
    [
      { allOf: [{ properties: { a: { $ref: '#' } } }, { properties: { a: { $ref: '#' } } }] },
      deep(24),
      /fewer references/,
    ],
    [{ type: 'string', pattern: '^a' }, 'a'.repeat(5000), /no text over 4000 characters/],
  ])('%j', (schema, value, fault) => {
    const found = findValueFault(schema, value)
    if (fault === null) expect(found).toBeNull()
    else expect(found).toMatch(fault)
  })

  test('the schema given is left as it was', () => {
    const schema = { $defs: { a: { type: 'string' } }, $ref: '#/$defs/a' }
    const before = structuredClone(schema)
    findValueFault(schema, 'x')
    expect(Reflect.ownKeys(schema)).toEqual(Reflect.ownKeys(before))
  })
})

describe('an example made of a schema', () => {
  test.each([
    [{ type: 'string' }, '<CITY>'],
    [{ type: 'string', default: 'Oslo' }, 'Oslo'],
    [{ enum: ['a', 'b'] }, 'a'],
    [{ type: 'integer', minimum: 3 }, 3],
    [{ type: 'array', minItems: 2, items: { type: 'boolean' } }, [false, false]],
    [{ type: 'string', format: 'email' }, 'somebody@example.com'],
    [
      { type: 'object', required: ['placeId'], properties: { placeId: { type: 'string' } } },
      { placeId: '<PLACE_ID>' },
    ],
    [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, null],
    [{ type: 'string', pattern: '^[0-9]+$' }, undefined],
    [{ $ref: '#' }, undefined],
    [{ type: 'array', minItems: 1e9, items: {} }, undefined],
    [branching(30), undefined],
  ])('%j', (schema, expected) => {
    expect(exampleOf(schema, 'city')).toEqual(expected)
  })

  test('is what the schema takes, or is not made', () => {
    const { schema } = fc.letrec<{ schema: object }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small' },
        fc.record({ type: fc.constantFrom('string', 'integer', 'boolean', 'null') }),
        fc.record({ type: fc.constant('string'), minLength: fc.nat(30), maxLength: fc.nat(30) }),
        fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(3) }),
        fc.record({
          type: fc.constant('object'),
          properties: fc.record({ a: tie('schema'), b: tie('schema') }),
          required: fc.subarray(['a', 'b', 'c']),
        }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
      ),
    }))
    fc.assert(
      fc.property(schema, (each) => {
        const example = exampleOf(each, 'value')
        if (example !== undefined) expect(findValueFault(each, example)).toBeNull()
      }),
    )
  })

  test.each([
    ['placeId', '<PLACE_ID>'],
    ['X-API-Key', '<X_API_KEY>'],
    ['E2B_API_KEY', '<E2B_API_KEY>'],
    ['sha256Hash', '<SHA256_HASH>'],
    ['', '<VALUE>'],
  ])('%j is left to the caller as %s', (name, placeholder) => {
    expect(toPlaceholder(name)).toBe(placeholder)
  })
})

test('every schema in a schema is written anew, and no value that only looks like one', () => {
  const schema = {
    title: 'a',
    items: { title: 'b', default: { title: 'a value' } },
    anyOf: [{ not: { title: 'c' } }],
    properties: { title: { title: 'd', type: 'string' } },
  }
  expect(mapSchema(schema, (keyword, value) => (keyword === 'title' ? undefined : value))).toEqual({
    items: { default: { title: 'a value' } },
    anyOf: [{ not: {} }],
    properties: { title: { type: 'string' } },
  })
})

function nested(depth: number): object {
  return depth === 0 ? {} : { not: nested(depth - 1) }
}

/** Needs itself many times at every level. */
function branching(width: number): object {
  const required = Array.from({ length: width }, (_, i) => `p${i}`)
  const properties = Object.fromEntries(required.map((name) => [name, { $ref: '#' }]))
  return { type: 'object', required, properties }
}

function deep(depth: number): object {
  return depth === 0 ? {} : { a: deep(depth - 1) }
}

/** Each definition names the next one twice. */
function doubling(steps: number): object {
  const both = (i: number) => ({ allOf: [{ $ref: `#/$defs/a${i}` }, { $ref: `#/$defs/a${i}` }] })
  const $defs = Object.fromEntries(
    Array.from({ length: steps }, (_, i) => [`a${i}`, i === steps - 1 ? {} : both(i + 1)]),
  )
  return { ...both(0), $defs }
}
