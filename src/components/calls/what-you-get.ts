import type { KitView } from '../../domain/kit/kit-view.ts'
import { toOutputFields } from '../../domain/listing/operation.ts'
import { cutText } from '../../domain/wire/text.ts'
import type { DecisionFact } from '../rows/decision-facts.ts'

type Kit = Pick<KitView, 'kind' | 'url' | 'operations' | 'tools' | 'skills'>

/** Length of a stranger's name (characters), and how many names fit. */
const MAX_NAME = 40
const MAX_NAMES = 3

/**
 * The output of a listing's call, in one cell that links to its calls; none where unknown.
 *
 * @example → [{ label: 'You get', value: 'results, requestId', note: 'from POST /search, 1 of 2 operations', … }]
 */
export function toWhatYouGet(kit: Kit): DecisionFact[] {
  if (kit.tools.length > 0) return [toCounted('tool', kit.tools)]
  if (kit.skills.length > 0) return [toCounted('skill', kit.skills)]
  const [first] = kit.kind === 'http_api' ? kit.operations : []
  if (first === undefined) return []
  const value = toAnswerWords(first)
  if (value === '') return []
  const { pathname } = new URL(first.url)
  const others = kit.operations.length > 1 ? `, 1 of ${kit.operations.length} operations` : ''
  const note = `from ${first.method} ${cutText(decodePath(pathname), MAX_NAME)}${others}`
  return [{ ...CELL, value, note }]
}

const CELL = { label: 'You get', tone: 'plain', href: '#calls' } as const

function toCounted(noun: 'tool' | 'skill', all: readonly { name: string }[]): DecisionFact {
  const value = `${all.length} ${noun}${all.length === 1 ? '' : 's'}`
  return { ...CELL, value, note: toNames(all.map(({ name }) => name)) }
}

/** The outer fields of the answer; without any, the operation's description. */
function toAnswerWords({ response, description = '' }: Kit['operations'][number]): string {
  const fields = response === undefined ? [] : toOutputFields(response).map(({ name }) => name)
  if (fields.length === 0) return cutText(description, MAX_NAME * MAX_NAMES)
  const isList = fields.every((name) => name.startsWith('[].'))
  const names = toNames(fields.map((name) => name.replace(/^\[\]\./, '')))
  return isList ? `a list of ${names}` : names
}

function toNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => cutText(name, MAX_NAME))
  return shown.join(', ') + (names.length > MAX_NAMES ? ', …' : '')
}

/** `{city}` reads better than its escapes. */
function decodePath(path: string): string {
  return path.replaceAll('%7B', '{').replaceAll('%7D', '}')
}
