import { withoutHidden } from '../../listing/listing-text.ts'
import type { Skill, Tool } from '../../listing/tools-and-skills.ts'
import { isJsonObject } from '../../wire/parse-json.ts'
import { hasLocalReferencesOnly, isWithin } from './bounded-json.ts'
import { toInertLine } from './inert-text.ts'

/** How many tools and skills of a listing are kept; the rest is cut and marked so. */
export const SEEN = {
  tools: 500,
  skills: 200,
  /** Characters of everything kept as JSON: with its frame under 256 KiB, in any script. */
  characters: 80_000,
  nameLength: 128,
  titleLength: 120,
  descriptionLength: 600,
  examples: 5,
  exampleLength: 200,
  schema: { depth: 16, nodes: 1500, characters: 12_000 },
} as const

export interface KeptList<Item> {
  items: Item[]
  isCut: boolean
}

/** Bounded, with inert texts. A schema too large or with external references becomes any object. */
export function readTools(values: readonly unknown[]): KeptList<Tool> {
  return keepWithin(values, SEEN.tools, (value) => {
    const name = toName(value.name)
    if (name === null) return null
    const schema = readSchema(value.inputSchema)
    const title = toText(value.title, SEEN.titleLength)
    const hints = isJsonObject(value.annotations) ? value.annotations : {}
    const tool: Tool = {
      name,
      ...(title !== '' && { title }),
      description: toText(value.description, SEEN.descriptionLength) || title || name,
      input_schema: schema.value,
      ...(isHiding(value.description) && { hidden: true }),
      ...(typeof hints.readOnlyHint === 'boolean' && { read_only: hints.readOnlyHint }),
      ...(typeof hints.destructiveHint === 'boolean' && { destructive: hints.destructiveHint }),
    }
    return { item: tool, isCut: schema.isCut }
  })
}

export function readSkills(values: readonly unknown[]): KeptList<Skill> {
  return keepWithin(values, SEEN.skills, (value) => {
    const id = toName(value.id)
    if (id === null) return null
    const examples = (Array.isArray(value.examples) ? value.examples : [])
      .slice(0, SEEN.examples)
      .map((each) => toText(each, SEEN.exampleLength))
      .filter((each) => each !== '')
    const skillName = toText(value.name, SEEN.titleLength) || id
    const skill: Skill = {
      id,
      name: skillName,
      description: toText(value.description, SEEN.descriptionLength) || skillName,
      ...(examples.length > 0 && { examples }),
    }
    return { item: skill, isCut: false }
  })
}

function keepWithin<Item>(
  values: readonly unknown[],
  most: number,
  read: (value: Record<string, unknown>) => { item: Item; isCut: boolean } | null,
): KeptList<Item> {
  const items: Item[] = []
  let left: number = SEEN.characters
  let isCut = values.length > most
  for (const value of values.slice(0, most)) {
    const kept = isJsonObject(value) ? read(value) : null
    if (kept === null) {
      isCut = true
      continue
    }
    left -= JSON.stringify(kept.item).length
    if (left < 0) return { items, isCut: true }
    items.push(kept.item)
    isCut ||= kept.isCut
  }
  return { items, isCut }
}

/** A client sends the name back: one that would have to be changed for display is left out. */
function toName(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > SEEN.nameLength) return null
  return toInertLine(value, SEEN.nameLength) === value ? value : null
}

function toText(value: unknown, maxLength: number): string {
  return typeof value === 'string' ? toInertLine(value, maxLength) : ''
}

/** Emoji and joining scripts need some of them. */
function isHiding(value: unknown): boolean {
  const start = typeof value === 'string' ? value.slice(0, SEEN.descriptionLength * 4) : ''
  return (
    /[\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/u.test(start) && withoutHidden(start) !== start
  )
}

function readSchema(value: unknown): { value: Record<string, unknown>; isCut: boolean } {
  const any = { type: 'object' }
  if (value === undefined) return { value: any, isCut: false }
  const isKept =
    isJsonObject(value) && isWithin(value, SEEN.schema) && hasLocalReferencesOnly(value)
  return isKept ? { value: inertStrings(value), isCut: false } : { value: any, isCut: true }
}

/** Keys are names a caller must send; the texts next to them are documentation. */
function inertStrings(schema: Record<string, unknown>): Record<string, unknown> {
  const clean = (value: unknown, key: string): unknown => {
    if (typeof value === 'string')
      return key === 'description' || key === 'title'
        ? toInertLine(value, SEEN.descriptionLength)
        : value
    if (Array.isArray(value)) return value.map((each) => clean(each, ''))
    return isJsonObject(value) ? inertStrings(value) : value
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, clean(value, key)]))
}
