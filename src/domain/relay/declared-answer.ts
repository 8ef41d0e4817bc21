import { resolveReference } from '../listing/json-schema.ts'
import { isJsonObject, listOf, objectOf } from '../wire/json.ts'
import { cutAt } from '../wire/text.ts'

/** What an operation declares as a good answer: `response` in its facts. */
export interface DeclaredResponse {
  content_type: string
  schema?: unknown
  example?: unknown
}

/**
 * Judges an answer's value by its declaration: whether it has the declared shape, is an error, or is empty.
 *
 * The shape is members and types, and nothing finer. Patterns, formats, lengths and further members are not compared:
 * an answer with a longer name is still a good answer, and a foreign pattern is never run.
 *
 * No validator is used, because it would refuse odd but correct answers (a null if nothing is known, a price as text),
 * and its time grows with a schema's references. Here each step is counted.
 */
const MAX_STEPS = 20_000
const MAX_DEPTH = 32
/** How many entries of a list are checked. */
const MAX_ITEMS = 20
/** The share of an example's members that must be in the answer: 1 in 3. */
const SHARE_OF_EXAMPLE = 3
const MAX_NAME = 40

/** Names of wrappers around an answer that declarations often omit. */
const WRAPPERS = new Set(['data', 'result', 'results', 'response', 'output', 'body', 'payload'])

/** Members that only describe the answer: an answer with nothing else is no delivery. */
const ABOUT_ANSWER = new Set([
  ...['ok', 'success', 'successful', 'status', 'code', 'statuscode', 'state', 'result_code'],
  ...['error', 'errors', 'errorcode', 'errormessage', 'message', 'msg', 'detail', 'details'],
  ...['reason', 'warning', 'warnings', 'timestamp', 'time', 'took', 'elapsed', 'duration'],
  ...['requestid', 'traceid', 'id', 'version', 'meta', 'metadata', 'credits', 'cached'],
])

const FAILED_WORD = /^(?:error|errored|fail|failed|failure|ko|exception)$/i

/** Short texts that servers and proxies send in place of an answer. */
const ERROR_TEXT =
  /^\W*(?:error\b|an? (?:internal |unexpected )?(?:server )?error\b|internal server error|bad (?:gateway|request)|service (?:is )?(?:temporarily )?unavailable|gateway time-?out|(?:the )?(?:request|upstream)\b.{0,40}(?:failed|timed out|time-?out|error)|upstream (?:error|request|connect)|(?:rate limit|quota) exceeded|too many requests|not found|forbidden|unauthori[sz]ed|access denied|something went wrong|failed to |exception\b|traceback \()/i
const MAX_ERROR_TEXT = 400

/** @returns where and how a value differs from its declaration, in the declaration's names; null if it fits */
export function findDeclaredFault(declared: DeclaredResponse, value: unknown): string | null {
  const fault = findFault(declared, value)
  if (fault === null || !isJsonObject(value)) return fault
  for (const [name, inner] of Object.entries(value))
    if (WRAPPERS.has(name) && findFault(declared, inner) === null) return null
  return fault
}

/**
 * Whether an answer is an error despite its status. An answer with a value for any declared member
 * is real, whatever else it has: `{ok: false, url, checked_at}` may be what was sold.
 * @returns what shows that it is an error, or null
 */
export function findErrorSign(declared: DeclaredResponse, value: unknown): string | null {
  if (typeof value === 'string') return findErrorText(value)
  if (!isJsonObject(value)) return null
  const sign = findSign(value)
  if (sign === null) return null
  const names = declaredNames(declared)
  // If the declaration has only members about the answer, its seller knows best what they mean.
  if (names.size > 0 && ![...names].some((name) => !isAboutAnswer(name))) return null
  return hasSubstance(value, names) ? null : sign
}

/** Whether everything declared is present without a value, or nothing is present at all. */
export function isNothing(declared: DeclaredResponse, value: unknown): boolean {
  if (value === null || value === '') return true
  if (!isJsonObject(value)) return false
  const entries = Object.entries(value)
  if (entries.length === 0) return declaredNames(declared).size > 0 || !isOpenMap(declared)
  return entries.every(
    ([name, member]) => isVoid(member) || (isAboutAnswer(name) && isFlag(member)),
  )
    ? !declaresOnlyFlags(declared)
    : false
}

function findFault({ schema, example }: DeclaredResponse, value: unknown): string | null {
  const byExample = () => (example === undefined ? null : findExampleFault(example, value))
  if (schema === undefined) return byExample()
  const fault = judge(schema, value)
  // A declaration that contradicts its own example is not applied: either of the two may be right.
  const contradicts = fault !== null && example !== undefined && judge(schema, example) !== null
  return contradicts ? byExample() : fault
}

function judge(schema: unknown, value: unknown): string | null {
  return visit(schema, value, { root: schema, path: '', depth: 0, budget: { left: MAX_STEPS } })
}

interface Place {
  root: unknown
  path: string
  depth: number
  /** Budget shared by all steps of one judgement. When it runs out, whatever is not checked yet passes. */
  budget: { left: number }
  /** Whether the schema is one of several parts of a shape: an answer may lack all members of one part. */
  isPart?: boolean
}

/** The place of a member or an entry. */
function below({ root, depth, budget }: Place, path: string): Place {
  return { root, path, depth: depth + 1, budget }
}

function visit(schema: unknown, value: unknown, place: Place): string | null {
  place.budget.left -= 1
  if (!isJsonObject(schema) || place.budget.left <= 0 || place.depth > MAX_DEPTH) return null
  if (value === null && place.path !== '') return null
  if (typeof schema.$ref === 'string')
    return visit(resolveReference(place.root, schema.$ref), value, sameWay(place))
  return (
    findTypeFault(schema.type, value, place) ??
    findChoiceFault(schema, value, place) ??
    (isJsonObject(value) ? findMemberFault(schema, value, place) : null) ??
    (Array.isArray(value) ? findItemFault(schema, value, place) : null)
  )
}

/** The place of the same value under another schema. */
function sameWay(place: Place, isPart = place.isPart === true): Place {
  return { ...below(place, place.path), isPart }
}

function findTypeFault(type: unknown, value: unknown, { path }: Place): string | null {
  if (typeof type === 'string' && isOfType(type, value)) return null
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type.filter(isText) : []
  return types.length > 0 && !types.some((each) => isOfType(each, value))
    ? toFault(path, `expected ${types.join(' or ')}, got ${typeOf(value)}`)
    : null
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Servers in loosely typed languages may send numbers as text, and text as numbers. */
function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'integer':
    case 'number':
      return typeof value === 'number' || (typeof value === 'string' && isNumeric(value))
    case 'string':
      return typeof value === 'string' || typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean' || value === 0 || value === 1
    default:
      return typeOf(value) === type
  }
}

function isNumeric(text: string): boolean {
  return text.length <= MAX_NAME && text.trim() !== '' && Number.isFinite(Number(text))
}

function findChoiceFault(
  { allOf, anyOf, oneOf }: Record<string, unknown>,
  value: unknown,
  place: Place,
): string | null {
  for (const part of listOf(allOf)) {
    const fault = visit(part, value, sameWay(place, true))
    if (fault !== null) return fault
  }
  // `oneOf` is treated like `anyOf`: an answer that fits two of its shapes is good too.
  for (const choices of [anyOf, oneOf]) {
    const faults = Array.isArray(choices) ? findFaults(choices, value, place) : []
    if (faults[0] !== undefined) return faults[0]
  }
  return null
}

/** All choices' faults; empty if one choice fits. */
function findFaults(choices: readonly unknown[], value: unknown, place: Place): string[] {
  const faults: string[] = []
  for (const choice of choices) {
    const fault = visit(choice, value, sameWay(place))
    if (fault === null) return []
    faults.push(fault)
  }
  return faults
}

function findMemberFault(
  schema: Record<string, unknown>,
  value: Record<string, unknown>,
  place: Place,
): string | null {
  const required = listOf(schema.required)
  for (const name of required)
    if (typeof name === 'string' && !Object.hasOwn(value, name) && !isAboutAnswer(name))
      return toFault(place.path, `expected a member ${cutAt(name, MAX_NAME)}`)
  const properties = objectOf(schema.properties)
  const names = Object.keys(properties)
  // Most schemas require nothing; but an answer with none of a schema's members has another shape.
  const isOther = names.length > 0 && !names.some((name) => Object.hasOwn(value, name))
  if (isOther && place.isPart !== true && Object.keys(value).length > 0)
    return toFault(place.path, `expected a member such as ${cutAt(names[0] ?? '', MAX_NAME)}`)
  for (const name of names) {
    if (!Object.hasOwn(value, name)) continue
    const fault = visit(properties[name], value[name], below(place, join(place.path, name)))
    if (fault !== null && !isAboutAnswer(name)) return fault
  }
  return null
}

function findItemFault(schema: Record<string, unknown>, value: unknown[], place: Place) {
  for (const item of value.slice(0, MAX_ITEMS)) {
    const fault = visit(schema.items, item, below(place, `${place.path}[]`))
    if (fault !== null) return fault
  }
  return null
}

/** Compares only an example's type and outer members: its deeper values are one case of many. */
function findExampleFault(example: unknown, value: unknown): string | null {
  const isScalar = typeof example !== 'object' && typeof value !== 'object'
  if (example === null || isScalar) return null
  if (typeOf(example) !== typeOf(value))
    return toFault('', `expected ${typeOf(example)} as in the example, got ${typeOf(value)}`)
  if (!isJsonObject(example) || !isJsonObject(value)) return null
  const names = Object.keys(example)
  const shared = names.filter((name) => Object.hasOwn(value, name))
  return shared.length * SHARE_OF_EXAMPLE < names.length
    ? toFault('', `expected the example's members, got ${shared.length} of ${names.length}`)
    : null
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function join(path: string, name: string): string {
  return path === '' ? cutAt(name, MAX_NAME) : `${path}.${cutAt(name, MAX_NAME)}`
}

function toFault(path: string, text: string): string {
  const place = cutAt(path, MAX_PATH)
  return place === '' ? `${text[0]?.toUpperCase()}${text.slice(1)}.` : `At ${place}: ${text}.`
}

const MAX_PATH = 120

function isAboutAnswer(name: string): boolean {
  return ABOUT_ANSWER.has(toWord(name))
}

function findErrorText(text: string): string | null {
  const isError = text.length <= MAX_ERROR_TEXT && ERROR_TEXT.test(text)
  return isError ? 'The answer is a text that reports a failure.' : null
}

const SAYS_ERROR = 'A member says that there was an error.'
const SAYS_FAILED = 'A member says that the call failed.'

/** Members that may report an error, by name. */
const MEMBER_SIGNS = new Map([
  ...['error', 'errors', 'errormessage', 'errorcode', 'exception'].map(
    (name) => [name, SAYS_ERROR] as const,
  ),
  ...['status', 'state', 'result', 'code'].map((name) => [name, SAYS_FAILED] as const),
])

function findSign(value: Record<string, unknown>): string | null {
  for (const [name, member] of Object.entries(value)) {
    const sign = MEMBER_SIGNS.get(toWord(name))
    if (sign === undefined) continue
    const isStated = sign === SAYS_FAILED ? isFailure(member) : !isVoid(member) && !isNo(member)
    if (isStated) return sign
  }
  return null
}

function isNo(member: unknown): boolean {
  return member === false || member === 0
}

function toWord(name: string): string {
  const word = name.toLowerCase()
  return /[_-]/.test(word) ? word.replace(/[_-]/g, '') : word
}

function isFailure(member: unknown): boolean {
  if (typeof member === 'number') return member >= 400 && member <= 599
  return typeof member === 'string' && (FAILED_WORD.test(member) || /^[45]\d\d$/.test(member))
}

function hasSubstance(value: Record<string, unknown>, names: ReadonlySet<string>): boolean {
  return Object.entries(value).some(([name, member]) => {
    const isPayload = names.size > 0 ? names.has(name) : true
    return isPayload && !isAboutAnswer(name) && !isVoid(member) && !isEmptyList(member)
  })
}

/** The declaration's outer names. */
function declaredNames({ schema, example }: DeclaredResponse): Set<string> {
  const properties = isJsonObject(schema) ? schema.properties : undefined
  const known = [properties, example].filter(isJsonObject)
  return new Set(known.flatMap((each) => Object.keys(each)))
}

function declaresOnlyFlags(declared: DeclaredResponse): boolean {
  const names = [...declaredNames(declared)]
  return names.length > 0 && names.every(isAboutAnswer)
}

/** A map may be empty: if a declaration has `additionalProperties`, `{}` is an answer. */
function isOpenMap({ schema }: DeclaredResponse): boolean {
  return isJsonObject(schema) && isJsonObject(schema.additionalProperties)
}

function isVoid(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (typeof value === 'string') return value.trim() === ''
  return isJsonObject(value) && Object.values(value).every((member) => member === null)
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function isFlag(value: unknown): boolean {
  return typeof value !== 'object'
}
