import * as v from 'valibot'
import type { Auth } from '../../../src/domain/listing/auth.ts'
import { FIELD_NAME } from '../../../src/domain/listing/auth.ts'
import type { InvokeEntry, Setting } from '../../../src/domain/listing/invoke.ts'
import { findTextFault } from '../../../src/domain/listing/listing-text.ts'
import { isJsonObject, memberOf } from '../../../src/domain/wire/parse-json.ts'
import { toSeedLine } from '../../facts/seed-texts.ts'
import { findInstruction } from '../../text/plain-text.ts'

/**
 * Settings a server requires: environment variables of a package, headers of a remote, arguments.
 * An unreadable setting is dropped, not the server.
 */
const MAX_SETTINGS = 60
const MAX_DESCRIPTION = 200
const MAX_VALUE = 200

const ENV_NAME = /^[A-Za-z_]\w{0,99}$/
const VARIABLE_NAME = /^[A-Za-z_][\w.-]{0,99}$/
const MAX_CHOICES = 50

const InputSchema = v.object({
  ...v.entriesFromList(['name', 'description', 'type', 'valueHint'], v.nullish(v.string())),
  ...v.entriesFromList(['value', 'default', 'placeholder'], v.nullish(v.string())),
  ...v.entriesFromList(['isRequired', 'isSecret'], v.nullish(v.boolean())),
})
type Input = v.InferOutput<typeof InputSchema>

/** @example toEnv([{ name: 'API_KEY', isRequired: true, isSecret: true }]) → [{ name: 'API_KEY', required: true, secret: true }] */
export function toEnv(values: unknown): Setting[] {
  return toSettings(values, ENV_NAME)
}

export function toHeaders(values: unknown): Setting[] {
  return toSettings(values, FIELD_NAME)
}

/** Parts of an address, by name, with their defaults and choices. */
export function toVariables(values: unknown): Setting[] {
  const named = Object.entries(isJsonObject(values) ? values : {}).map(([name, input]) => ({
    ...(isJsonObject(input) ? input : {}),
    name,
  }))
  return toSettings(named, VARIABLE_NAME).map(({ example: _, ...setting }) => {
    const input = named.find(({ name }) => name === setting.name) ?? {}
    const example = toText(memberOf(input, 'placeholder'))
    const fixed = [memberOf(input, 'value'), memberOf(input, 'default')].map(toText)
    const said = fixed.find((each) => each !== null) ?? null
    const listed = memberOf(input, 'choices')
    const choices = (Array.isArray(listed) ? listed : []).flatMap((each) => toText(each) ?? [])
    return {
      ...setting,
      ...(example !== null && { example: withPlaces(example) }),
      ...(said !== null && !setting.secret && { default: said }),
      ...(choices.length > 0 && { choices: choices.slice(0, MAX_CHOICES) }),
    }
  })
}

/** The arguments after the server's name: fixed ones as they are, the rest as placeholders. */
export function toArgs(values: unknown): string[] {
  return inputsOf(values).flatMap((input) => {
    const value = input.value ?? input.default
    const isNeeded = input.isRequired === true || (value !== undefined && value !== null)
    const hint = toPlace(input.valueHint ?? input.name ?? 'value')
    const shown = value === undefined || value === null ? hint : withPlaces(value)
    const line = toValue(shown)
    if (!isNeeded || line === null) return []
    if (input.type !== 'named') return [line]
    const name = /^--?[A-Za-z][\w-]{0,60}$/.exec(input.name ?? '')?.[0]
    return name === undefined ? [] : [name, line]
  })
}

/** What a caller must have first, according to its settings. */
export function authOf(entries: readonly InvokeEntry[]): Auth | null {
  for (const entry of entries) {
    const settings: readonly Setting[] = (entry.kind === 'mcp' ? entry.headers : entry.env) ?? []
    const key = settings.find(({ required, secret }) => required && secret)
    if (key === undefined) continue
    if (entry.kind !== 'mcp') return { type: 'api_key' }
    if (/^authorization$/i.test(key.name))
      return { type: /^basic\b/i.test(key.example ?? '') ? 'other' : 'bearer' }
    return { type: 'api_key', in: 'header', name: key.name }
  }
  return null
}

function toSettings(values: unknown, names: RegExp): Setting[] {
  const byName = new Map<string, Setting>()
  for (const input of inputsOf(values)) {
    const name = input.name ?? ''
    if (!names.test(name) || byName.has(name)) continue
    const description = toSeedLine(input.description, MAX_DESCRIPTION)
    const isSecret = input.isSecret === true
    const example = exampleOf(input, isSecret)
    byName.set(name, {
      name,
      ...(description === null ? {} : { description }),
      required: input.isRequired === true,
      secret: isSecret,
      ...(example === null ? {} : { example }),
    })
  }
  return [...byName.values()].slice(0, MAX_SETTINGS)
}

/** A value meant for everybody; for a secret only its form, such as `Bearer <token>`. */
function exampleOf({ value, default: fallback, placeholder }: Input, isSecret: boolean) {
  const given = value ?? fallback ?? placeholder
  if (typeof given !== 'string') return null
  const shape = withPlaces(given)
  return isSecret && shape === given ? null : toValue(shape)
}

/** A value is not prose: verbatim or not at all. */
function toValue(text: string): string | null {
  const isFine =
    text.trim() !== '' &&
    text.length <= MAX_VALUE &&
    findTextFault(text) === null &&
    findInstruction(text) === null
  return isFine ? text.trim() : null
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? toValue(value) : null
}

/** @example withPlaces('Bearer {api_key}') → 'Bearer <api_key>' */
function withPlaces(text: string): string {
  return text.replace(/\{([\w.-]{1,60})\}/g, '<$1>')
}

function toPlace(name: string): string {
  return `<${
    name
      .replace(/^-+/, '')
      .replace(/[^\w-]+/g, '_')
      .slice(0, 60) || 'value'
  }>`
}

function inputsOf(values: unknown): Input[] {
  const list = Array.isArray(values) ? values.slice(0, MAX_SETTINGS * 2) : []
  return list.flatMap((value) => (v.is(InputSchema, value) ? [value] : []))
}
