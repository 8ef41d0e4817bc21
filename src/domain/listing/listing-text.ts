import * as v from 'valibot'
import { faultless } from '../wire/shapes.ts'
import { countEdits } from '../wire/text.ts'
import { ID_PREFIXES, type IdPrefix, type Kind } from '../wire/vocabulary.ts'

/** Longest id, prefix and dot included. */
export const MAX_ID_LENGTH = 120

export const ID_PATTERN = new RegExp(
  `^(?:${ID_PREFIXES.join('|')})\\.[a-z0-9]+(?:[._-][a-z0-9]+)*$`,
)

/** @example isListingId('x402.foo.bar') → true; isListingId('x402..foo') → false */
export function isListingId(text: string): boolean {
  return text.length <= MAX_ID_LENGTH && ID_PATTERN.test(text)
}

/** @example listingIdOf('listings/mcp/a.b.md') → 'mcp.a.b' */
export function listingIdOf(listing: string): string {
  return listing
    .replace(/^listings\//, '')
    .replace(/\.md$/, '')
    .replace('/', '.')
}

/** Paid HTTP services have the prefix `x402` on either rail; an `http_api` of unknown price may have `x402` or `api`. */
export function prefixesFor(kind: Kind, isPaid: boolean): readonly IdPrefix[] {
  if (kind === 'http_api') return isPaid ? ['x402'] : ['api', 'x402']
  return [({ kit: 'kit', mcp_server: 'mcp', a2a_agent: 'a2a' } as const)[kind]]
}

/** The part of an id after its prefix. @example toSlug('mcp.weather') → 'weather' */
export function toSlug(id: string): string {
  return id.slice(id.indexOf('.') + 1)
}

/**
 * Rules for text that people read: names, summaries, tags. Everything legal passes unchanged (HTML,
 * quotes, CJK, right-to-left letters, emoji); deceptive text is refused.
 *
 * Known limits: a word written entirely in look-alike letters from one other script passes (it may
 * be a word), and so do styled letters such as mathematical ones. Lengths count UTF-16 units.
 */
export const MAX_NAME_LENGTH = 80
export const MAX_SUMMARY_LENGTH = 200
export const MAX_TAG_LENGTH = 60
const MAX_ENDPOINT_TEXT_LENGTH = 300
export const EndpointTextSchema = lineOfText(MAX_ENDPOINT_TEXT_LENGTH)

/** UAX 39: more marks than this on one letter climb into the lines above and below. */
const MAX_STACKED_MARKS = 4

/**
 * @returns what is wrong with a line of text, or null
 * @example findTextFault('P\u0430yPal') → 'expected one script in a word, got Latin mixed with
 *   Cyrillic in "P\u0430yPal"'
 */
export function findTextFault(text: string): string | null {
  // Most lines are plain ASCII, which passes all the checks below.
  if (/^[ -~]*$/.test(text)) return null
  const control = /[\p{Cc}\u2028\u2029]/u.exec(text)
  if (control !== null)
    return `expected one line without control characters, got ${toCodePoint(control[0])}`
  if (!text.isWellFormed() || /[\ufffd\p{Co}\p{Noncharacter_Code_Point}]/u.test(text))
    return 'expected readable Unicode text, got broken or private-use characters'
  // No other invisible character belongs in a line of text.
  const plain = LEGAL_INVISIBLES.reduce((rest, legal) => rest.replace(legal, ''), text)
  const invisible = /\p{Default_Ignorable_Code_Point}/u.exec(plain)
  if (invisible !== null)
    return `expected no invisible or direction-changing characters, got ${toCodePoint(invisible[0])}`
  if (new RegExp(`\\p{Mn}{${MAX_STACKED_MARKS + 1},}`, 'u').test(text))
    return `expected at most ${MAX_STACKED_MARKS} marks on one letter, got more`
  return findMixedScript(text)
}

/** The flags of England, Scotland and Wales: the only tag sequences that are emoji everywhere. */
const SUBDIVISION_FLAGS =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu

/** A joiner inside an emoji, and the two presentation selectors after a character that may be an emoji. */
const EMOJI_INVISIBLES =
  /(?<=\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?)\u200d(?=\p{Extended_Pictographic})|(?<=\p{Emoji})[\ufe0e\ufe0f]/gu

/** Scripts whose letters join: a joiner or non-joiner is part of the spelling (UTS 46, CONTEXTJ). */
const SPELLED_JOINERS =
  /(?<=[\p{sc=Arab}\p{sc=Syrc}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Mong}])[\u200c\u200d](?=\p{L})/gu

/** Variation selectors, which choose how a Han character is drawn, as in Japanese names. */
const HAN_VARIANTS = /(?<=\p{sc=Han})[\u{e0100}-\u{e01ef}]/gu

const LEGAL_INVISIBLES = [SUBDIVISION_FLAGS, EMOJI_INVISIBLES, SPELLED_JOINERS, HAN_VARIANTS]

/** Matches each legal sequence as a whole first, so that only other invisible characters are found. */
const HIDDEN = new RegExp(
  `(${LEGAL_INVISIBLES.map(({ source }) => source).join('|')})|(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]`,
  'gu',
)

/**
 * Removes control, format, direction, tag and private-use characters from strings and keys at any
 * depth. Line breaks and tabs stay. If two keys become equal, the first stays.
 * @example withoutHidden({ 'na\u202eme': ['a\u200bb'] }) → { name: ['ab'] }
 */
export function withoutHidden<Value>(value: Value): Value {
  // Only characters are removed, so the type stays the same.
  return clean(value) as Value
}

const PLAIN = /^[\n\t -~]*$/

function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (typeof value !== 'object' || value === null) return value
  if (isClean(value)) return value
  if (Array.isArray(value)) return value.map(clean)
  const cleaned = new Map<string, unknown>()
  for (const [key, member] of Object.entries(value)) {
    const name = cleanText(key).replace(/[\n\t]+/g, ' ')
    if ((name !== '' || key === '') && !cleaned.has(name)) cleaned.set(name, clean(member))
  }
  return Object.fromEntries(cleaned)
}

/** Whether nothing has to be removed from a value: most text is plain and needs no copy. */
function isClean(value: unknown): boolean {
  if (typeof value === 'string') return PLAIN.test(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(
    ([key, member]) => PLAIN.test(key) && !/[\n\t]/.test(key) && isClean(member),
  )
}

function cleanText(text: string): string {
  return PLAIN.test(text)
    ? text
    : text.toWellFormed().replace(HIDDEN, (_, legal?: string) => legal ?? '')
}

/** Scripts with letters that look Latin; `harmless` matches the letters that do not. */
const LOOKALIKES = {
  Cyrillic: { letter: /\p{sc=Cyrl}/u, harmless: null },
  // Greek letters are ordinary in units, formulas and brands: k\u03a9, \u03bcTorrent, \u0394t.
  Greek: { letter: /\p{sc=Grek}/u, harmless: /[ΓΔΘΛΞΠΣΦΨΩ\u2126βδθλμξπφψω]/gu },
  Armenian: { letter: /\p{sc=Armn}/u, harmless: null },
  Cherokee: { letter: /\p{sc=Cher}/u, harmless: null },
} as const

/** A forged name is a Latin word with a letter of another script (UTS 39). */
function findMixedScript(text: string): string | null {
  if (!/[\p{sc=Cyrl}\p{sc=Grek}\p{sc=Armn}\p{sc=Cher}]/u.test(text)) return null
  for (const word of text.match(/[\p{L}\p{M}]+/gu) ?? []) {
    if (!/\p{sc=Latn}/u.test(word)) continue
    for (const [script, { letter, harmless }] of Object.entries(LOOKALIKES))
      if (letter.test(harmless === null ? word : word.replace(harmless, '')))
        return `expected one script in a word, got Latin mixed with ${script} in ${JSON.stringify(word)}`
  }
  return null
}

function toCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

function findLineFault(text: string): string | null {
  if (text.trim() === '') return 'expected text, got nothing'
  if (text !== text.trim()) return 'expected no spaces at the start or the end'
  return findTextFault(text)
}

export function lineOfText(maxLength: number) {
  return v.pipe(
    v.string('expected text'),
    v.maxLength(
      maxLength,
      ({ input }) => `expected at most ${maxLength} characters, got ${input.length}`,
    ),
    faultless(findLineFault),
  )
}

/** How many known ids are suggested for an unknown id. */
const MOST_NEAR = 3

/** How many names are compared with a misspelt name. This limits the work, because anybody may request any id. */
const MOST_COMPARED = 400

const LONGEST_COMPARED = 60

/** How many first letters of a misspelt name must be right. */
const SAME_START = 2

/**
 * Finds the ids nearest to an unknown one: first the same name under another prefix, then names
 * that start with the same words, then names that differ by typos.
 * @example createNearestIds(['mcp.exa', 'x402.exa'])('exa') → ['x402.exa', 'mcp.exa']
 */
export function createNearestIds(ids: Iterable<string>): (requested: string) => string[] {
  const byStart = Map.groupBy(
    [...ids].map((id) => ({ id, slug: toSlug(id) })).sort(bySlug),
    ({ slug }) => slug.slice(0, SAME_START),
  )
  return (requested) => {
    const name = requested.toLowerCase().replace(PREFIX, '')
    if (name.length > LONGEST_COMPARED || name.length < SAME_START) return []
    const near = byStart.get(name.slice(0, SAME_START)) ?? []
    const begun = near.filter(
      ({ slug }) =>
        slug === name || /^[._-]$/.test(slug.startsWith(name) ? slug.charAt(name.length) : ''),
    )
    const slips = near
      .filter(({ slug }) => Math.abs(slug.length - name.length) <= MOST_SLIPS)
      .slice(0, MOST_COMPARED)
      .map((each) => ({ ...each, edits: countEdits(name, each.slug) }))
      .filter(({ slug, edits }) => edits <= Math.min(MOST_SLIPS, slug.length / 3))
      .sort((a, b) => a.edits - b.edits)
    return [...new Set([...begun, ...slips].map(({ id }) => id))].slice(0, MOST_NEAR)
  }
}

const MOST_SLIPS = 2

const PREFIX = new RegExp(`^(?:${ID_PREFIXES.join('|')})\\.`)

/** Orders ids by name, and ids with the same name by prefix. */
function bySlug(a: { id: string; slug: string }, b: { id: string; slug: string }): number {
  if (a.slug !== b.slug) return a.slug < b.slug ? -1 : 1
  const rank = ({ id }: { id: string }) =>
    ID_PREFIXES.findIndex((each) => id.startsWith(`${each}.`))
  return rank(a) - rank(b)
}
