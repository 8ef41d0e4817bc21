import { isJsonObject, memberOf } from '../wire/json.ts'

/**
 * The path to a value in JSON, in the part of JMESPath's notation that selects and renames
 * (https://jmespath.org/specification.html): `a.b`, `a[0]`, `a[].b`, `a[].{url: link}`, `"odd name"`, and `@` for the
 * whole value, or a whole member: `a[].{name: @}`. In addition, `*` selects an object's only member, if its name
 * varies. No functions, no conditions: a path is data, not code.
 */
export type JsonPath = readonly PathStep[]

type PathStep =
  | { member: string }
  | { index: number }
  | { each: true }
  | { only: true }
  | { fields: ReadonlyMap<string, JsonPath> }

const MAX_PATH_LENGTH = 400
const NAME = /^(?:"([^"\\]+)"|([A-Za-z_$][\w$-]*))/

/** @returns null for text that is not a path */
export function parseJsonPath(text: string): JsonPath | null {
  if (text.length > MAX_PATH_LENGTH) return null
  const read = readSteps(text)
  return read !== null && read.rest === '' ? read.steps : null
}

function readSteps(text: string): { steps: JsonPath; rest: string } | null {
  if (text.startsWith('@')) return { steps: [], rest: text.slice(1) }
  const steps: PathStep[] = []
  let rest = text
  for (;;) {
    const isFirst = steps.length === 0
    if (!isFirst && !/^[.[]/.test(rest)) return { steps, rest }
    const read = readBracket(rest) ?? readMember(isFirst ? rest : rest.replace(/^\./, ''))
    if (read === null) return null
    steps.push(read.step)
    rest = read.rest
  }
}

type ReadStep = { step: PathStep; rest: string } | null

function readBracket(text: string): ReadStep {
  const [whole, index] = /^\[(\d{0,4})\]/.exec(text) ?? []
  if (whole === undefined) return null
  const step = index === '' ? { each: true as const } : { index: Number(index) }
  return { step, rest: text.slice(whole.length) }
}

function readMember(text: string): ReadStep {
  if (text.startsWith('*')) return { step: { only: true }, rest: text.slice(1) }
  if (text.startsWith('{')) return readFields(text.slice(1))
  const [whole, quoted, plain] = NAME.exec(text) ?? []
  if (whole === undefined) return null
  return { step: { member: quoted ?? plain ?? '' }, rest: text.slice(whole.length) }
}

/** Parses the rest of a rename, such as `url: link, title: title}`. */
function readFields(text: string): ReadStep {
  const fields = new Map<string, JsonPath>()
  for (let rest = text; ; ) {
    const [whole, name] = /^\s*([A-Za-z_]\w*)\s*:\s*/.exec(rest) ?? []
    const read = whole === undefined ? null : readSteps(rest.slice(whole.length))
    if (name === undefined || read === null) return null
    fields.set(name, read.steps)
    const [end, mark] = /^\s*([,}])/.exec(read.rest) ?? []
    if (end === undefined) return null
    rest = read.rest.slice(end.length)
    if (mark === '}') return { step: { fields }, rest }
  }
}

/**
 * The value at a path, or undefined. List items without that path are left out.
 * @example readJsonPath({ data: [{ link: 'a' }] }, parse('data[].{url: link}')) → [{ url: 'a' }]
 */
export function readJsonPath(value: unknown, path: JsonPath): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value ?? undefined
  if ('member' in step) return readJsonPath(memberOf(value, step.member), rest)
  if ('index' in step)
    return Array.isArray(value) ? readJsonPath(value[step.index], rest) : undefined
  if ('only' in step)
    return isJsonObject(value) ? readJsonPath(Object.values(value)[0], rest) : undefined
  if ('each' in step) return readEach(value, rest)
  const found = [...step.fields].flatMap(([name, inner]) => {
    const member = readJsonPath(value, inner)
    return member === undefined ? [] : [[name, member]]
  })
  return found.length === 0 ? undefined : readJsonPath(Object.fromEntries(found), rest)
}

function readEach(value: unknown, rest: JsonPath): unknown {
  if (!Array.isArray(value)) return undefined
  return value.flatMap((each) => {
    const found = readJsonPath(each, rest)
    return found === undefined ? [] : [found]
  })
}

/**
 * The value with `put` set at a path; missing objects and lists are created. Null for a path with
 * `[]`, `*` or renames, which is ambiguous.
 * @example writeJsonPath({}, parse('messages[0].content'), 'Hi') → { messages: [{ content: 'Hi' }] }
 */
export function writeJsonPath(value: unknown, path: JsonPath, put: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return put
  if ('member' in step) {
    const own = isJsonObject(value) ? value : {}
    return { ...own, [step.member]: writeJsonPath(memberOf(own, step.member), rest, put) }
  }
  if (!('index' in step)) return null
  const list: unknown[] = Array.isArray(value) ? [...value] : []
  list[step.index] = writeJsonPath(list[step.index], rest, put)
  return list
}
