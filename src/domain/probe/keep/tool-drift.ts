import { withoutHidden } from '../../listing/listing-text.ts'
import type { Tool } from '../../listing/tools-and-skills.ts'
import type { Interface, Notice } from '../../trust/interface.ts'
import { toCanonicalJson } from '../../wire/canonical-json.ts'
import type { Sight } from '../read/finding.ts'
import { toInertLine } from '../read/inert-text.ts'
import { toSorted } from './drift-notices.ts'

/** How long a change of tools stays on the page. */
const TOOLS_NOTICE_MS = 30 * 86_400_000
const MAX_NOTE_LENGTH = 300
const MAX_NAMED = 4

/** Truncated lists say nothing about missing items. @param at time of the probe */
export function judgeTools(
  before: Interface | undefined,
  { tools, truncated }: Pick<Sight, 'tools' | 'truncated'>,
  notices: readonly Notice[],
  at: string,
): Notice[] {
  const others = notices.filter(({ id }) => id !== 'tools_changed')
  const known = notices.find(({ id }) => id === 'tools_changed')
  const isFresh = known !== undefined && Date.parse(at) - Date.parse(known.at) < TOOLS_NOTICE_MS
  const isComplete = before?.truncated !== true && truncated !== true
  const note =
    before?.tools === undefined || tools === undefined || !isComplete
      ? null
      : describeTools(before.tools, tools)
  if (note !== null) return toSorted([...others, { id: 'tools_changed', note, at }])
  return isFresh ? [...notices] : others
}

/** @returns null where they are the same in any order */
function describeTools(before: readonly Tool[], now: readonly Tool[]): string | null {
  const [was, is] = [byName(before), byName(now)]
  const added = [...is.keys()].filter((name) => !was.has(name))
  const removed = [...was.keys()].filter((name) => !is.has(name))
  const changed = [...is].flatMap(([name, tool]) => {
    const old = was.get(name)
    return old === undefined || isSame(old, tool) ? [] : [name]
  })
  const parts = Object.entries({ added, removed, changed })
    .map(([what, names]) => toPart(what, names))
    .filter((part) => part !== '')
  return parts.length === 0 ? null : toInertLine(`Tools ${parts.join('; ')}.`, MAX_NOTE_LENGTH)
}

function byName(tools: readonly Tool[]): Map<string, Tool> {
  return new Map(tools.map((tool) => [withoutHidden(tool.name), tool]))
}

/** A tool stored without its seller's text has its name instead: only facts are compared. */
function isSame(was: Tool, is: Tool): boolean {
  const isBare = was.description === was.name || is.description === is.name
  const told = ({ description, input_schema, read_only, destructive }: Tool) =>
    toCanonicalJson(
      withoutHidden({
        input_schema: isBare ? {} : input_schema,
        ...{ read_only, destructive },
        description: isBare ? '' : description.replace(/\s+/g, ' ').trim(),
        properties: isBare ? Object.keys(Object(input_schema.properties)).sort() : [],
      }),
    )
  return told(was) === told(is)
}

/** @example toPart('added', ['a', 'b']) → 'added: a, b' */
function toPart(what: string, names: readonly string[]): string {
  if (names.length === 0) return ''
  const more = names.length - MAX_NAMED
  const shown = names.toSorted().slice(0, MAX_NAMED).join(', ')
  return `${what}: ${shown}${more > 0 ? ` and ${more} more` : ''}`
}
