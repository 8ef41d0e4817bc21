import { placeholdersOf } from '../listing/operation.ts'
import { toCanonicalJson } from '../wire/canonical-json.ts'
import { isJsonObject } from '../wire/parse-json.ts'
import type { DeclaredResponse } from './delivered-answer.ts'

/**
 * Answers in the right shape that are not answers: the published example whatever was asked, or
 * somebody else's answer. Three cases are certain, and nothing else is called canned: it is the
 * published example although other arguments were sent; it names another caller's argument where
 * the example names its own; it is exactly the answer to two earlier callers who asked for other
 * things.
 *
 * Known limit: invented values that differ each time, and copies with the requested name filled in,
 * look like true answers to anybody who does not know the truth.
 */
export type CallArguments = ReadonlyMap<string, string>

/** The parts of a declaration in which arguments reappear in the answer. */
export interface DeclaredCall {
  url: string
  params?: readonly { name: string; in: string; example?: unknown }[] | undefined
  body?: { example?: unknown; schema?: unknown } | undefined
  response?: DeclaredResponse | undefined
}

/** Recent calls of one operation; texts are hashes. */
export interface SeenAnswers {
  /** Whether an argument with that name and value was sent by another call. */
  hasArgument(name: string, value: string): boolean
  /** Calls with other arguments that got the same answer, if they are the majority. */
  sameAnswers(): number
}

const MAX_ARGUMENTS = 40
const MAX_VALUE = 500
const LEAST_NAME = 3
const MAX_DEPTH = 4
const MAX_PLACES = 400
/** Values that cannot be equal by chance: long texts, and numbers with several digits. */
const LEAST_SUBSTANCE = 4
/** How often the same answer must have occurred: of two queries, one may be a corrected one. */
const LEAST_SAME = 2

/**
 * The declared arguments of a call, in lower case: other parameters do not count, so that nobody
 * makes two queries out of one by a parameter that no seller reads.
 *
 * @param target path and query @param body parsed, undefined without one
 */
export function readArguments(call: DeclaredCall, target: string, body: unknown): CallArguments {
  const { params = [] } = call
  if (params.length === 0 && call.body === undefined && !/[{%]/.test(call.url)) return new Map()
  const url = URL.parse(target, call.url)
  const query = url?.searchParams ?? new URLSearchParams()
  const inQuery = params.flatMap(({ name, in: place }) =>
    place === 'query' ? [[name, query.get(name) ?? ''] as const] : [],
  )
  const inBody = namesIn(call.body).map(
    (name) => [name, isJsonObject(body) ? body[name] : ''] as const,
  )
  return toArguments([...inQuery, ...readPath(call.url, url?.pathname ?? ''), ...inBody])
}

/** The arguments of the published example. */
export function exampleArguments({ params = [], body }: DeclaredCall): CallArguments {
  const inBody = isJsonObject(body?.example) ? Object.entries(body.example) : []
  return toArguments([...params.map(({ name, example }) => [name, example] as const), ...inBody])
}

/** @returns why an answer is canned, or null */
export function findCanned(
  call: DeclaredCall,
  {
    args,
    value,
    isComplete = true,
    seen,
  }: { args: CallArguments; value: unknown; isComplete?: boolean; seen: SeenAnswers },
): string | null {
  const { example } = call.response ?? {}
  const published = exampleArguments(call)
  const echoes = example === undefined ? [] : findEchoes(example, published)
  for (const { path, name } of echoes) {
    const [own = '', told] = [args.get(name), normalize(at(value, path))]
    if (own === '' || told === '' || isRelated(own, told) || isCodeOf(own, told)) continue
    if (told === published.get(name))
      return 'It names the subject of the published example, but the request was for another.'
    if (seen.hasArgument(name, told))
      return 'It names the subject of another caller, but the request was for another.'
  }
  if (args.size === 0 || !hasSubstance(value)) return null
  const isPublished =
    isComplete && example !== undefined && toCanonicalJson(value) === toCanonicalJson(example)
  if (isPublished && isOtherThan(args, published))
    return 'It is the published example, but the request was for something else.'
  return seen.sameAnswers() >= LEAST_SAME
    ? 'It is byte for byte the answer to earlier callers who asked for other things.'
    : null
}

/** Paths of an example that repeat an argument. */
function findEchoes(example: unknown, args: CallArguments) {
  const echoes: { path: string[]; name: string }[] = []
  walk(example, (path, value) => {
    const text = normalize(value)
    for (const [name, sent] of args)
      if (text === sent && text.length >= LEAST_NAME) echoes.push({ path, name })
  })
  return echoes
}

/** "oslo, norway" answers "oslo"; "new york" does not answer "paris". */
function isRelated(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.replace(/[^\p{L}\p{N}]+/gu, ''))
  return a === undefined || b === undefined || a.includes(b) || b.includes(a)
}

/** "nyc" may be answered by "new york": a code does not resemble what it stands for. */
function isCodeOf(one: string, other: string): boolean {
  const [shorter = 0, longer = 0] = [one.length, other.length].sort((a, b) => a - b)
  return shorter <= LONGEST_CODE && longer > LONGEST_CODE
}

const LONGEST_CODE = 3

function isOtherThan(args: CallArguments, published: CallArguments): boolean {
  return [...args].some(([name, value]) => {
    const known = published.get(name)
    return known !== undefined && !isRelated(known, value)
  })
}

function hasSubstance(value: unknown): boolean {
  const found = new Set<string>()
  walk(value, (_, inner) => {
    const isLong = typeof inner === 'string' && inner.length >= 8
    const isLarge = typeof inner === 'number' && String(inner).replace(/\D/g, '').length >= 4
    if (isLong || isLarge) found.add(String(inner))
  })
  return found.size >= LEAST_SUBSTANCE
}

function walk(value: unknown, onScalar: (path: string[], value: unknown) => void): void {
  let left = MAX_PLACES
  const step = (inner: unknown, path: string[]) => {
    left -= 1
    if (left < 0 || path.length > MAX_DEPTH) return
    if (typeof inner !== 'object' || inner === null) onScalar(path, inner)
    else for (const [name, each] of Object.entries(inner)) step(each, [...path, name])
  }
  step(value, [])
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (place, name) =>
      typeof place === 'object' && place !== null && Object.hasOwn(place, name)
        ? Reflect.get(place, name)
        : undefined,
    value,
  )
}

function namesIn(body: DeclaredCall['body']): string[] {
  const schema = isJsonObject(body?.schema) ? body.schema.properties : undefined
  const known = [schema, body?.example].filter(isJsonObject)
  return [...new Set(known.flatMap((each) => Object.keys(each)))]
}

function readPath(template: string, path: string): (readonly [string, string])[] {
  const parts = path.split('/')
  return (URL.parse(template)?.pathname ?? '').split('/').flatMap((part, index) => {
    const [name] = placeholdersOf(decode(part))
    return name === undefined ? [] : [[name, decode(parts[index] ?? '')] as const]
  })
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function toArguments(pairs: readonly (readonly [string, unknown])[]): CallArguments {
  const texts = pairs.map(([name, value]) => [name, normalize(value)] as const)
  return new Map(texts.filter(([, text]) => text !== '').slice(0, MAX_ARGUMENTS))
}

function normalize(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, MAX_VALUE).trim().toLowerCase()
  return typeof value === 'number' ? String(value) : ''
}
