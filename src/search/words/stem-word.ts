/**
 * A gentle English stemmer: plurals, -ing, -ed, doer nouns and the -ation family meet their verb,
 * and a final e is dropped so that `invoice`, `invoices` and `invoicing` meet. Porter's rules were
 * tried and rejected: they join words that mean different things (`excel` and `excellent`) and
 * keep `invoice` apart from `invoicing`. Stems needn't be words.
 */
export function stemWord(word: string): string {
  if (word.length < 4 || !LAST_LETTERS.includes(word.slice(-1)) || !/^[a-z]+$/.test(word))
    return word
  if (UNTOUCHED.has(word)) return word
  const singular = stripPlural(word)
  return finish(UNTOUCHED.has(singular) ? singular : stripEnding(singular))
}

/** Endings that any rule below changes; most words have none, and need no further checks. */
const LAST_LETTERS = 'sngrdey'

/** Words whose ending only looks like a suffix, or that mean something else without it. */
const UNTOUCHED = new Set(
  (
    'news series species status analysis bus gas lens atlas kubernetes postgres redis aws ios macos ' +
    'process access address express business always this its was has does canvas chess press less ' +
    'wordpress nexus campus virus census focus bonus corpus nginx windows sms dns tts apis ' +
    'server docker weather power paper number letter customer order user filter router header ' +
    'container layer twitter ledger register folder buffer cluster consumer transfer helper tier ' +
    'figure computer supper water flower tower shower dinner summer winter spider cover offer ' +
    'discover deliver river silver other after never under over super hyper cyber center ' +
    'ether tether member master matter manner chapter character quarter poster counter partner ' +
    'king ring thing string spring bring sing wing being during morning evening ceiling sibling ' +
    'care cares career careers plane planes wine wines cape pine bare tape fine site sites rope pricing ' +
    'bing ping red bed need seed feed speed breed embed led shed sled hundred nested'
  ).split(' '),
)

function stripPlural(word: string): string {
  if (!word.endsWith('s') || /[sui]s$/.test(word)) return word
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(?:sh|ch|x|ss|zz)es$/.test(word)) return word.slice(0, -2)
  return word.slice(0, -1)
}

/** Longest first: each row is an ending, its replacement, and how long the rest must be. */
const ENDINGS: readonly (readonly [ending: string, kept: string, rest: number])[] = [
  ['ification', 'ifi', 2],
  ['isation', 'iz', 3],
  ['ization', 'iz', 3],
  ['ifying', 'ifi', 2],
  ['ifier', 'ifi', 2],
  ['ified', 'ifi', 2],
  ['ising', 'iz', 4],
  ['izing', 'iz', 3],
  ['ation', 'at', 3],
  ['ating', 'at', 3],
  ['ator', 'at', 3],
  ['ated', 'at', 3],
  ['iser', 'iz', 4],
  ['izer', 'iz', 3],
  ['ised', 'iz', 4],
  ['ized', 'iz', 3],
  ['ise', 'iz', 4],
  ['ize', 'iz', 3],
  ['ate', 'at', 3],
  ['ing', '', 3],
  ['ied', 'i', 2],
  ['ed', '', 3],
  ['er', '', 4],
]

/** Most words end in a letter that no ending has: those need no comparing at all. */
const ENDINGS_BY_LETTER = Map.groupBy(ENDINGS, ([ending]) => ending.at(-1))

function stripEnding(word: string): string {
  for (const [ending, kept, rest] of ENDINGS_BY_LETTER.get(word.at(-1)) ?? []) {
    if (!word.endsWith(ending) || word.length - ending.length < rest) continue
    const stem = word.slice(0, -ending.length)
    return kept === '' ? undouble(stem) : stem + kept
  }
  return word
}

/** `planning` → `plan`, but `calling` → `call`. */
function undouble(stem: string): string {
  return /([bdgmnprt])\1$/.test(stem) ? stem.slice(0, -1) : stem
}

/** The last step lets base forms meet the stripped ones: no final e, y as i. */
function finish(stem: string): string {
  if (stem.length <= 3) return stem
  if (stem.endsWith('e')) return stem.slice(0, -1)
  if (stem.endsWith('y') && /[^aeiou]y$/.test(stem)) return `${stem.slice(0, -1)}i`
  return stem
}
