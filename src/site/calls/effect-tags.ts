import type { KitView } from '../../domain/kit/kit-view.ts'
import type { Effect } from '../../domain/wire/vocabulary.ts'
import type { CallTag } from '../evidence/seen-words.ts'

const EFFECT_TAGS: Record<Effect, CallTag> = {
  read: { text: 'reads', tone: 'plain' },
  write: { text: 'writes', tone: 'strong' },
  delete: { text: 'deletes', tone: 'bad' },
  pay: { text: 'spends money', tone: 'bad' },
}

/** Red is for what is known: a guess is marked as one. */
export function toEffectTag({ effect, assumed = [] }: Guessable): CallTag {
  const tag = EFFECT_TAGS[effect]
  return assumed.some((field) => field === 'effect')
    ? { text: `${tag.text}?`, tone: withoutAlarm(tag.tone) }
    : tag
}

/** A hint is the seller's statement, never our finding. */
export function toToolTag(tool: KitView['tools'][number]): CallTag {
  const changes = tool.effect === 'write' || tool.effect === 'delete'
  if (tool.destructive === true && changes) return { text: 'it says it may delete', tone: 'strong' }
  const { text, tone } = toEffectTag(tool)
  return { text, tone: tool.read_only === undefined ? tone : withoutAlarm(tone) }
}

function withoutAlarm(tone: CallTag['tone']): CallTag['tone'] {
  return tone === 'bad' ? 'strong' : tone
}

interface Guessable {
  effect: Effect
  assumed?: readonly string[] | undefined
}
