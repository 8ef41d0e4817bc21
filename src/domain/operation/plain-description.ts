/**
 * Whether a tool's sentence says more than its name and its inputs do. "Lists artifacts; may take
 * params." under `list_artifacts` does not: such a sentence is omitted everywhere.
 */
export function saysMoreThanName({ name, description }: Named): boolean {
  const known = new Set(toWords(name).flatMap(toStems))
  const glued = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  // Its inputs are in its schema.
  const sentence = description.replace(/; (?:needs|may take|takes)\b.*$/s, '')
  const words = toWords(sentence.replace(/\.$/, ''))
  return words.some((word) => {
    const isIn = (stem: string) =>
      known.has(stem) || VERBS.has(stem) || (stem.length >= LETTERS && glued.includes(stem))
    return !FILLERS.has(word) && !toStems(word).some(isIn)
  })
}

interface Named {
  name: string
  description: string
}

/** Shorter words occur in longer ones by chance: `medrxiv` is one word in a sentence, two in a name. */
const LETTERS = 3

/** Verbs that any name of its kind implies: `get_user` lists, gets, shows or reads a user. */
const VERBS = new Set(
  `add change check convert create delete do edit execute fetch find get give inspect list look make
  manage read remove retrieve return run say search send set show start take tell update write`.split(
    /\s+/,
  ),
)

const FILLERS = new Set(
  `a all an and any as at back by data for from given in information into is it item its many more new of
  on one or other out over several some that the their them this to up using via with your`.split(
    /\s+/,
  ),
)

/** @example toStems('queries') → ['queries', 'querie', 'quer', 'query'] */
function toStems(word: string): string[] {
  return [
    word,
    word.replace(/s$/, ''),
    word.replace(/es$/, ''),
    word.replace(/ies$/, 'y'),
    word.replace(/ing$/, ''),
    word.replace(/ing$/, 'e'),
    word.replace(/ed$/, ''),
  ]
}

function toWords(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}
