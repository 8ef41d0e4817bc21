import { isJsonObject } from '../wire/parse-json.ts'
import type { DeclaredResponse } from './delivered-answer.ts'

/** Members about the answer rather than part of it: they do not count as delivery. */
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

export function isAboutAnswer(name: string): boolean {
  return ABOUT_ANSWER.has(toWord(name))
}

/**
 * Whether an answer is an error despite its status. One with a value for anything declared is an
 * answer, whatever else it has: `{ok: false, url, checked_at}` may be what was sold.
 *
 * @returns the sign of the error, or null
 */
export function findErrorSign(declared: DeclaredResponse, value: unknown): string | null {
  if (typeof value === 'string') return findErrorText(value)
  if (!isJsonObject(value)) return null
  const sign = findSign(value)
  if (sign === null) return null
  const names = declaredNames(declared)
  // A seller whose declared answer has only such members knows best what they mean.
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

function findErrorText(text: string): string | null {
  const isError = text.length <= MAX_ERROR_TEXT && ERROR_TEXT.test(text)
  return isError ? 'A text that says that something failed.' : null
}

interface MemberSign {
  names: ReadonlySet<string>
  says: string
  isSaid(member: unknown): boolean
}

const MEMBER_SIGNS: readonly MemberSign[] = [
  {
    names: new Set(['error', 'errors', 'errormessage', 'errorcode', 'exception']),
    says: 'A member says that there was an error.',
    isSaid: (member) => !isVoid(member) && member !== false && member !== 0,
  },
  {
    names: new Set(['status', 'state', 'result', 'code']),
    says: 'A member says that the call failed.',
    isSaid: isFailure,
  },
]

function findSign(value: Record<string, unknown>): string | null {
  for (const [name, member] of Object.entries(value)) {
    const word = toWord(name)
    const sign = MEMBER_SIGNS.find(({ names, isSaid }) => names.has(word) && isSaid(member))
    if (sign !== undefined) return sign.says
  }
  return null
}

function toWord(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
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

/** Outer names of the declaration. */
function declaredNames({ schema, example }: DeclaredResponse): Set<string> {
  const properties = isJsonObject(schema) ? schema.properties : undefined
  const known = [properties, example].filter(isJsonObject)
  return new Set(known.flatMap((each) => Object.keys(each)))
}

function declaresOnlyFlags(declared: DeclaredResponse): boolean {
  const names = [...declaredNames(declared)]
  return names.length > 0 && names.every(isAboutAnswer)
}

/** A map may be empty: `{}` is an answer where no member has a name. */
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
