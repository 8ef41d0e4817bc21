import { EFFECTS, type Effect, type HttpMethod } from '../wire/vocabulary.ts'

/**
 * The verbs that say what a call changes. `read` changes nothing permanent: making a text or a
 * picture for the caller is reading. `pay` moves or spends money beyond the price of the call.
 */
const VERBS: Record<Effect, string> = {
  read: `analyze answer ask audit autocomplete balance browse calculate capture chat check classify
    collect compare complete compute convert count crawl decode describe detect diagnose diff
    discover download embed encode enrich estimate evaluate examine explain explore export extract
    fetch find forecast format gather generate geocode get give grep has hover identify inspect
    interpret investigate judge list load locate look lookup map match measure monitor navigate
    observe parse peek ping poll predict preview print profile pull query quote rank read recommend
    render rephrase research resolve retrieve return reveal review say scan score scrape screenshot scroll
    search see show simulate speak suggest summarize sum tail take tell trace transcribe translate
    troubleshoot validate verify view visualize wait watch whois`,
  write: `accept acknowledge activate add allow append apply approve archive assign attach backup ban
    begin block boot broadcast call cancel change clear click clone close combine commit configure
    connect copy create customize deactivate decline demote deploy detach disable disconnect dismiss
    downgrade drag draft duplicate edit enable end enroll exec execute fill finish follow fork
    forward freeze grant handle hide import increment index ingest init initialize insert install
    invite invoke issue join kick kill launch like link lock log login logout make manage mark merge
    migrate modify move mute notify open optimize overwrite patch pause pin play populate post press
    promote protect provision publish push put react rebase reboot rebuild record refresh register
    reject release reload rename renew reopen reorder repeat replace reply report repost request
    reserve resize restart restore resume retry revoke rollback rotate run save schedule select send
    set setup share start stash stop store submit subscribe suspend switch sync tag tap terminate
    toggle trigger type unarchive unassign unban unblock unfollow unlink unlock unmute unpin
    unpublish unsubscribe update upgrade upload upsert wake write`,
  delete: 'delete destroy drop empty erase purge remove reset trash truncate uninstall wipe',
  pay: `bet book bridge buy charge deposit donate order pay purchase refund repay stake swap topup
    transfer unstake wager withdraw`,
}

/** These are as often nouns: they decide where no other verb does. */
const ALSO_NOUNS = new Set(
  `answer balance bet block book bridge broadcast call change charge chat commit copy deposit draft embed end
  forecast format import index issue like link list load lock log look lookup map mark match open
  order patch pin play post preview profile pull purchase push query quote rank record refund release
  reply report request research reserve review run schedule score share stake store swap switch tag test
  trace transfer type view watch`.split(/\s+/),
)

/** Money that is placed or sent, not its link, method or quote. */
const PAYMENT =
  /\b(?:create (?:payment|refund|payout)|place \w* ?order|submit order|capture payment|execute (?:swap|trade)|(?:make|send) (?:payment|payout))\b(?! (?:intent|link|list|method|quote|status))/

/** Tests with a call that changes something need these. */
const TRIAL = new Set(['dry', 'estimate', 'preview', 'quote', 'simulate', 'validate'])

/** A read-only hint does not cover these. */
const UNMISTAKABLE = new Set(['create', 'delete', 'edit', 'reject', 'remove', 'send', 'update'])

const EFFECT_BY_VERB = new Map(
  EFFECTS.flatMap((effect) => VERBS[effect].split(/\s+/).map((verb) => [verb, effect] as const)),
)

/** RFC 9110, 9.2.1: a GET is safe. Only the name of a POST shows what it changes. */
const EFFECT_BY_METHOD: Partial<Record<HttpMethod, Effect>> = {
  GET: 'read',
  PUT: 'write',
  PATCH: 'write',
  DELETE: 'delete',
}

export interface EffectClues {
  /** As people declared it. */
  effect?: Effect | undefined
  method?: HttpMethod | undefined
  /** The name of a tool, or the last part of an operation's path. */
  name: string
  description?: string | undefined
  read_only?: boolean | undefined
  destructive?: boolean | undefined
}

export interface EffectVerdict {
  effect: Effect
  isGuess: boolean
}

/**
 * A declaration by people comes first, then the method or the seller's hint, then the verbs of the
 * name and the description, as a guess. A paying verb outweighs a method, a clear one a hint.
 */
export function judgeEffect(clues: EffectClues): EffectVerdict {
  const { effect, method, name, read_only, destructive } = clues
  if (effect !== undefined) return { effect, isGuess: false }
  const said = readVerbs(clues)
  const known = method === undefined ? null : (EFFECT_BY_METHOD[method] ?? null)
  if (known !== null) {
    return said === 'pay' ? { effect: 'pay', isGuess: true } : { effect: known, isGuess: false }
  }
  if (read_only === true && !toWords(name).some((word) => UNMISTAKABLE.has(word)))
    return { effect: 'read', isGuess: false }
  if (read_only === false || destructive === true) {
    const changes = said === 'read' ? null : said
    return { effect: changes ?? 'write', isGuess: read_only !== false }
  }
  return { effect: said ?? 'read', isGuess: true }
}

/** The most serious effect in name and description; null where neither has a known verb. */
function readVerbs({ method, name, description = '' }: EffectClues): Effect | null {
  const words = toWords(name)
  if (words.some((word) => TRIAL.has(word))) return 'read'
  if (PAYMENT.test(words.join(' '))) return 'pay'
  const isPlain = (word: string) => EFFECT_BY_VERB.has(word) && !ALSO_NOUNS.has(word)
  const plain = words.find(isPlain)
  const said = [
    ...(plain === undefined ? [] : [plain]),
    ...readStart(description, method === undefined),
  ]
  if (said.length > 0) return toGravest(said)
  return toGravest([words[0] ?? '', words.at(-1) ?? ''])
}

const ARTICLE = /^(?:an?|the|your|one|its|their)$/

/**
 * @param isOfTool a tool's sentence starts with a verb, an operation's often with a noun
 * @example readStart('Lists, adds or removes labels.', true) → ['list', 'add', 'remove']
 */
function readStart(description: string, isOfTool: boolean): string[] {
  const found: string[] = []
  const words = description.toLowerCase().split(/\s+/).slice(0, 8)
  for (const [at, word] of words.entries()) {
    if (word === 'or' || word === 'and') continue
    const plain = word.replace(/[^a-z]/g, '')
    const verb = toVerb(plain)
    const next = words[at + 1] ?? ''
    if (verb === null) break
    if (ALSO_NOUNS.has(verb) && !ARTICLE.test(next) && !(isOfTool && plain.endsWith('s'))) break
    found.push(verb)
    if (!word.endsWith(',') && next !== 'or' && next !== 'and') break
  }
  return isOfTool ? [...found, ...readLaterVerbs(description)] : found
}

/** @example readLaterVerbs('Lists groups of a user, or joins one.') → ['join'] */
function readLaterVerbs(description: string): string[] {
  const after = [...description.toLowerCase().matchAll(/\b(?:or|and) ([a-z]+s)\b/g)]
  const verbs = after.flatMap(([, word = '']) => toVerb(word) ?? [])
  return verbs.filter((verb) => !ALSO_NOUNS.has(verb))
}

/** @example toVerb('searches') → 'search' */
function toVerb(word: string): string | null {
  const stems = [word, word.replace(/s$/, ''), word.replace(/es$/, ''), word.replace(/ies$/, 'y')]
  return stems.find((stem) => EFFECT_BY_VERB.has(stem)) ?? null
}

function toGravest(verbs: readonly string[]): Effect | null {
  const said = new Set(verbs.map((verb) => EFFECT_BY_VERB.get(verb)))
  return EFFECTS.findLast((effect) => said.has(effect)) ?? null
}

/** @example toWords('hosting_createWebsiteV1') → ['hosting', 'create', 'website', 'v'] */
function toWords(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')
}
