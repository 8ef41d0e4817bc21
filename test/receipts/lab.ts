import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { DeclaredRow } from '../../src/domain/derived/derived-listing.ts'

/** Sellers of the lab: ten things that are sold, twenty ways to answer for money. None is real. */
export interface LabSeller {
  id: string
  isGood: boolean
  /** The way it answers. */
  way: string
  rail: 'x402-v1' | 'x402-v2' | 'mpp'
  call: LabCall
  /** @param city what was asked for */
  answer(city: string): LabAnswer
}

export interface LabCall {
  method: 'GET'
  url: string
  params: readonly { name: string; in: 'path'; example: string }[]
  response: DeclaredRow['response']
}

export interface LabAnswer {
  status: number
  headers: Record<string, string>
  /** Sent one after the other. */
  chunks: Buffer[]
  /** The connection breaks after the last one. */
  isCut?: boolean
}

interface Product {
  name: string
  response: DeclaredRow['response']
  /** The true answer. */
  make(city: string): unknown
}

/** Numbers that belong to a text, the same each time. */
function numberOf(text: string, most: number): number {
  let sum = 7
  for (const character of text) sum = (sum * 31 + character.charCodeAt(0)) % 1_000_003
  return sum % most
}

const weather = (city: string) => ({
  city,
  temperature: numberOf(city, 400) / 10,
  humidity: numberOf(`${city}h`, 100),
  wind: { speed: numberOf(`${city}w`, 300) / 10, direction: 'NW' },
  description: `A day in ${city} with ${numberOf(city, 9)} clouds over the harbour`,
  station: `station ${numberOf(`${city}s`, 90_000) + 10_000}`,
})
const search = (city: string) => ({
  query: city,
  results: ['one', 'two', 'three'].map((part) => ({
    title: `${city}: part ${part} of the guide`,
    url: `https://guide.example/${encodeURIComponent(city)}/${part}`,
    score: numberOf(city + part, 1000) / 1000,
  })),
  total: numberOf(city, 90_000) + 10_000,
})
const object = (properties: Record<string, unknown>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})
const [text, number, integer] = [{ type: 'string' }, { type: 'number' }, { type: 'integer' }]

const json = (
  name: string,
  make: (city: string) => unknown,
  schema: Record<string, unknown> | null,
  hasExample: boolean,
): Product => ({
  name,
  make,
  response: {
    content_type: 'application/json',
    ...(schema !== null && { schema }),
    ...(hasExample && { example: make('Paris') }),
  },
})

const WEATHER = object({
  city: text,
  temperature: number,
  humidity: integer,
  wind: object({ speed: number, direction: text }),
  description: text,
  station: text,
})
const SEARCH = {
  ...object({
    query: text,
    results: { type: 'array', items: { $ref: '#/$defs/hit' } },
    total: integer,
  }),
  $defs: { hit: object({ title: text, url: { type: 'string', format: 'uri' }, score: number }) },
}
const png = (city: string) =>
  Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    Buffer.from(`pixels of ${city}`.repeat(40)),
    Buffer.from('0000000049454e44ae426082', 'hex'),
  ])

const PRODUCTS: readonly Product[] = [
  json('weather', weather, WEATHER, true),
  json('weather-open', weather, { ...WEATHER, required: [] }, true),
  json('weather-shown', weather, null, true),
  json('search', search, SEARCH, true),
  json('search-plain', search, SEARCH, false),
  json('places', (city) => search(city).results, { type: 'array', items: SEARCH.$defs.hit }, true),
  json(
    'either',
    weather,
    { oneOf: [WEATHER, object({ job: text, poll: text })], $comment: 'or a job' },
    true,
  ),
  json(
    'prices',
    (city) => ({ ...weather(city), prices: { [city]: { usd: numberOf(city, 9999) / 100 } } }),
    {
      allOf: [
        WEATHER,
        object({ prices: { type: 'object', additionalProperties: object({ usd: number }) } }),
      ],
    },
    true,
  ),
  {
    name: 'picture',
    make: png,
    response: { content_type: 'image/png' },
  },
  {
    name: 'page',
    make: (city) =>
      `# ${city}\n\nA long walk along the river, then ${numberOf(city, 99)} steps up.\n`,
    response: { content_type: 'text/markdown' },
  },
]

const typeOf = ({ response }: Product) => response.content_type
const bytesOf = (value: unknown) =>
  Buffer.isBuffer(value)
    ? value
    : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

function whole(product: Product, value: unknown, headers: Record<string, string> = {}): LabAnswer {
  return {
    status: 200,
    headers: { 'content-type': typeOf(product), ...headers },
    chunks: [bytesOf(value)],
  }
}
function packed(product: Product, city: string, coding: string, pack: (bytes: Buffer) => Buffer) {
  const chunks = [pack(bytesOf(product.make(city)))]
  return {
    ...whole(product, ''),
    headers: { 'content-type': typeOf(product), 'content-encoding': coding },
    chunks,
  }
}
const isJson = (product: Product) => typeOf(product) === 'application/json'
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value)
const onObjects = (value: unknown, change: (object: Record<string, unknown>) => unknown) =>
  isObject(value) ? change(value) : value

type Way = [name: string, isGood: boolean, answer: (product: Product, city: string) => LabAnswer]

const HTML = '<!doctype html><html><head><title>Welcome</title></head><body>It works!</body></html>'

const WAYS: readonly Way[] = [
  ['right', true, (p, city) => whole(p, p.make(city))],
  ['gzip', true, (p, city) => packed(p, city, 'gzip', gzipSync)],
  [
    'brotli, then as a stream',
    true,
    (p, city) => {
      const [all = Buffer.alloc(0)] = packed(p, city, 'br', brotliCompressSync).chunks
      return {
        ...packed(p, city, 'br', brotliCompressSync),
        chunks: [all.subarray(0, 9), all.subarray(9)],
      }
    },
  ],
  [
    'deflate, byte by byte',
    true,
    (p, city) => {
      const [all = Buffer.alloc(0)] = packed(p, city, 'deflate', deflateSync).chunks
      return {
        ...packed(p, city, 'deflate', deflateSync),
        chunks: [...all].map((byte) => Buffer.from([byte])),
      }
    },
  ],
  [
    'with more members',
    true,
    (p, city) =>
      whole(
        p,
        onObjects(p.make(city), (v) => ({ request_id: 'r-1', ...v, cached: false, error: null })),
      ),
  ],
  [
    'wrapped, and a null',
    true,
    (p, city) =>
      isJson(p)
        ? whole(p, {
            success: true,
            data: onObjects(p.make(city), (v) => ('station' in v ? { ...v, station: null } : v)),
          })
        : whole(p, p.make(city)),
  ],
  [
    'numbers as text',
    true,
    (p, city) =>
      whole(
        p,
        onObjects(p.make(city), (v) =>
          Object.fromEntries(
            Object.entries(v).map(([k, m]) => [k, typeof m === 'number' ? String(m) : m]),
          ),
        ),
      ),
  ],
  [
    'another type and a mark',
    true,
    (p, city) =>
      isJson(p)
        ? {
            ...whole(p, `\ufeff${JSON.stringify(p.make(city), null, 4)}\n`),
            headers: { 'content-type': 'text/plain' },
          }
        : { ...whole(p, p.make(city)), headers: {} },
  ],
  [
    'as events',
    true,
    (p, city) =>
      isJson(p)
        ? {
            status: 200,
            headers: { 'content-type': 'text/event-stream' },
            chunks: [
              bytesOf(`: hello\n\nevent: answer\ndata: ${JSON.stringify(p.make(city))}\n\n`),
              bytesOf('data: [DONE]\n\n'),
            ],
          }
        : whole(p, p.make(city)),
  ],
  [
    'created, and long',
    true,
    (p, city) => ({
      ...whole(
        p,
        onObjects(p.make(city), (v) => ({ ...v, note: `${city} `.repeat(9000) })),
      ),
      status: 201,
    }),
  ],
  ['empty', false, (p) => whole(p, isJson(p) ? '' : ' \n')],
  [
    'nulls',
    false,
    (p, city) =>
      isJson(p)
        ? whole(
            p,
            isObject(p.make(city))
              ? Object.fromEntries(Object.keys(weather(city)).map((k) => [k, null]))
              : null,
          )
        : { status: 204, headers: {}, chunks: [] },
  ],
  ['too long', false, (p) => whole(p, { success: false, error: 'x', pad: 'x'.repeat(300_000) })],
  [
    'in a coding that nobody asked for',
    false,
    (p, city) => whole(p, p.make(city), { 'content-encoding': 'x' }),
  ],
  [
    'other shape',
    false,
    (p, city) => whole(p, { greeting: `hello ${city}`, plan: { name: 'free', seats: 3 } }),
  ],
  ['a web page', false, (p) => ({ ...whole(p, HTML), headers: { 'content-type': 'text/html' } })],
  [
    'error inside',
    false,
    (p, city) => whole(p, { success: false, error: { code: 429, message: `no ${city} today` } }),
  ],
  [
    'cut off',
    false,
    (p, city) => {
      const all = bytesOf(p.make(city))
      return {
        ...whole(p, ''),
        headers: { 'content-type': typeOf(p), 'content-length': String(all.length) },
        chunks: [all.subarray(0, all.length / 2)],
        isCut: true,
      }
    },
  ],
  [
    '402 again',
    false,
    (_p) => ({
      status: 402,
      headers: { 'content-type': 'application/json' },
      chunks: [bytesOf({ x402Version: 1, error: 'payment required', accepts: [] })],
    }),
  ],
  [
    'hostile',
    false,
    (p) =>
      whole(
        p,
        isJson(p)
          ? `{"__proto__":{"isGood":true},"constructor":{"prototype":{}},"deep":${'['.repeat(30)}${']'.repeat(30)}}`
          : { errors: ['x'] },
      ),
  ],
]

const RAILS = ['x402-v1', 'x402-v2', 'mpp'] as const

/** @param origin where they answer, such as `http://127.0.0.1:5000` */
export function createLab(origin: string): LabSeller[] {
  return WAYS.flatMap(([way, isGood, answer], n) =>
    PRODUCTS.map((product, m) => {
      const id = `x402.lab-${n}-${product.name}`
      return {
        id,
        isGood,
        way,
        rail: RAILS[(n + m) % RAILS.length] ?? 'x402-v2',
        call: {
          method: 'GET',
          url: `${origin}/${id}/{city}`,
          params: [{ name: 'city', in: 'path', example: 'Paris' }],
          response: product.response,
        },
        answer: (city) => answer(product, city),
      }
    }),
  )
}

/** What callers ask for, in turn. */
export const CITIES = ['Oslo', 'New York'] as const
