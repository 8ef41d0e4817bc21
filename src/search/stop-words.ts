/**
 * Words that carry no task. They are kept in names (so that a search for `The Who` finds it) and
 * left out of summaries and, unless nothing else is asked for, out of queries.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about all also am an and any anything are as at be because been but by can could did do does ' +
    'doing for from get gets getting give had has have having he her here him his how i if in into ' +
    'is it its just let lets like make makes me more most much my need needs new no not of on one now right before after today ' +
    'onto or our out please really s she should so some someone something t than that the their ' +
    'them then there these they thing things this those to too up us use used using via want wants ' +
    'cant dont doesnt didnt isnt arent wasnt werent wont wouldnt couldnt shouldnt havent hasnt hadnt im ive ' +
    'youre youve youll theyre theyve weve thats theres heres whos ' +
    'was we were what whats when where which while who whose why will with without would you your'
  ).split(' '),
)

/**
 * Words nearly every listing of such a directory could carry. They are indexed as any word, but
 * don't count as length: `GitHub MCP Server` is as much about GitHub as `GitHub`.
 */
export const GENERIC_WORDS: ReadonlySet<string> = new Set(
  'mcp server model context protocol api tool service agent ai integration'.split(' '),
)

/**
 * Words people wrap a task in. Listings use them with meaning, so the index keeps them; a query
 * leaves them out while other words remain.
 */
export const FILLER_WORDS: ReadonlySet<string> = new Set(
  (
    'able best cheap easily easy find finds finding good great help keep know look looking automatically ' +
    'nice quickly see show tell take taking turn turning way allow allows enable enables existing ' +
    'between whether near nearby people person real actual actually go goes going come add put set'
  ).split(' '),
)

/**
 * Words of time, degree and manner, and verbs of little meaning. Each is also part of somebody's
 * name, so a query leaves them out only while two other words remain.
 */
export const ASIDE_WORDS: ReadonlySet<string> = new Set(
  (
    'again ago almost already always another away back both certain current currently each else enough ' +
    'even ever every everyone everything exactly extra few further given gone got happen happened ' +
    'happening however instead keeps kept kind last lately later latest least left likely little ' +
    'lot lots many maybe mean means never next nobody nothing often okay old once ones only other ' +
    'others over own past perhaps pretty quite rather ready recent recently said say saying says several ' +
    'simply since somebody somewhere soon still stuff such sure think three together tomorrow ' +
    'tonight tried try trying two under until usual usually very well went within yesterday yet'
  ).split(' '),
)

/** Stretches of time are such words too behind one of the others: `last month`, `every day`. */
export const TIME_SPANS: ReadonlySet<string> = new Set(
  'minute minutes hour hours day days week weeks weekend weekends month months year years time times'.split(
    ' ',
  ),
)
export const SPAN_STARTS: ReadonlySet<string> = new Set(
  'next last this that these those past every each previous coming many few two three'.split(' '),
)
