import { toTemplate } from '../../src/domain/discovery/x402-manifest.ts'
import type { Operation } from '../../src/domain/listing/operation.ts'
import { HTTP_METHODS, type HttpMethod } from '../../src/domain/wire/vocabulary.ts'
import { findCallableUrlFault, type HostRules } from './callable-url.ts'
import type { Refusal } from './refusal.ts'

export function toMethod(text: unknown): HttpMethod | null {
  const name = typeof text === 'string' ? text.toUpperCase() : ''
  return HTTP_METHODS.find((known) => known === name) ?? null
}

/** An address with its places, the names of its path parameters; or why nobody could call it. */
export function toOperationAddress(text: string, rules: HostRules) {
  const { path: url, names: places } = toTemplate(text)
  const [, start = '', path = '', rest = ''] =
    /^([a-z]+:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? []
  const sample = start + path.replace(/\{\w+\}/g, 'x') + rest
  return findCallableUrlFault(sample, rules) ?? { url, places }
}

/** Every caller must fill in the placeholders of the path. */
export function toPathParams(places: readonly string[]): NonNullable<Operation['params']> {
  return places.map((name) => ({
    name,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' },
  }))
}

/** Parts a listing had no room for, in the terms of a source's report. */
export function leftOut(name: string, left: number): Refusal[] {
  const detail = `${left} operations beyond those listed`
  return left === 0 ? [] : [{ reason: 'row_too_large', name, detail }]
}
