import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readContent } from '../../src/compile/content/read-content.ts'
import type { Interface } from '../../src/domain/trust/interface.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import { readReview } from '../content/content-folder.ts'
import { withContent } from '../content/content-writer.ts'
import {
  parseSettled,
  type ReviewItem,
  type ReviewSource,
  SETTLED_FILE,
} from '../content/review-item.ts'
import { checkFile, noteSettled, type ReviewPlace } from './accept-file.ts'

/** More than these at once nobody reads. */
const MAX_PROPOSED = 8
/** Plain words, which YAML takes for text; it has ideas of its own about numbers, yes and no. */
const TAG = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z][a-z0-9]*(?: [a-z0-9]+){0,4}$/
const MAX_TAG_LENGTH = 40

/**
 * Names of tools and skills that probes saw, proposed as tags: search reads tags, so a person decides.
 * A score that read them by itself would invite sellers to stuff them.
 */
export function createTagQueue(place: ReviewPlace, now: () => string): ReviewSource {
  const { contentDir, allowPrivate } = place
  const list = async () => {
    const { content } = readContent(contentDir, { allowPrivate })
    const settled = parseSettled((await readReview(contentDir)).get(SETTLED_FILE))
    const items: ReviewItem[] = []
    for (const { id, file, facts } of content?.listings ?? []) {
      const seen = content?.evidence.get(id)?.interface
      const tags = seen === undefined ? [] : proposeTags(seen, facts.tags)
      if (seen === undefined || tags.length === 0) continue
      const text = addTags(await readFile(join(contentDir, file), 'utf8'), tags)
      const item = toItem(id, seen.at, tags)
      if (text === null || Object.hasOwn(settled, item.id)) continue
      items.push({ ...item, file: { path: file, text } })
    }
    return items
  }
  return {
    kind: 'tags',
    list,
    show: async () => [],
    settle: (item, decision) =>
      withContent(contentDir, async (writer) => {
        const file = decision.decision === 'accepted' ? (decision.file ?? item.file) : undefined
        const isCurrent = (await list()).some(({ id }) => id === item.id)
        if (!isCurrent) throw new OperatorError(`${item.id}: the listing has changed meanwhile`)
        const warnings = file === undefined ? [] : checkFile(place, file)
        if (file !== undefined) await writer.write(file.path, file.text)
        await noteSettled(place, writer, item, { decision, now: now() })
        return file === undefined ? [`${item.listing} stays as it is`] : [file.path, ...warnings]
      }),
    close: async () => undefined,
  }
}

/** @example proposeTags({ tools: [{ name: 'find_ship' }] }, []) → ['find ship'] */
export function proposeTags(
  { tools = [], skills = [] }: Pick<Interface, 'tools' | 'skills'>,
  known: readonly string[],
): string[] {
  const names = [...tools, ...skills].map(({ name }) => toTag(name))
  const fitting = names.filter((tag) => tag.length <= MAX_TAG_LENGTH && TAG.test(tag))
  return [...new Set(fitting)].filter((tag) => !known.includes(tag)).slice(0, MAX_PROPOSED)
}

function toTag(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
}

/** Null where the tags stand on several lines, which a person edits better. What stands there stays. */
function addTags(text: string, tags: readonly string[]): string | null {
  const end = text.indexOf('\n---', 4)
  const head = text.slice(0, end)
  const more = tags.join(', ')
  if (!/^tags:/m.test(head)) return `${head}\ntags: [${more}]${text.slice(end)}`
  const line = /^(tags: *\[)([^\n]*)\] *$/m
  if (!line.test(head)) return null
  const added = head.replace(line, (_, start: string, old: string) =>
    old.trim() === '' ? `${start}${more}]` : `${start}${old}, ${more}]`,
  )
  return added + text.slice(end)
}

function toItem(listing: string, at: string, tags: readonly string[]): ReviewItem {
  const hash = createHash('sha256')
    .update(JSON.stringify([listing, tags]))
    .digest('hex')
  return {
    id: `tags-${hash.slice(0, 12)}`,
    at,
    why: 'proposed_tags',
    from: 'tags',
    listing,
    note: `its tools or skills are named ${tags.join(', ')}`,
  }
}
