import type {
  CompactRow,
  Kit,
  Listing,
  OperationsAnswer,
  SearchParameters,
} from '../src/answers.ts'
import {
  EXIT,
  print,
  printJson,
  printRows,
  type Run,
  readArguments,
  readNumber,
  readSubject,
  toLine,
  UsageFault,
} from './command-line.ts'

const TEXTS = [
  'kind',
  'category',
  'rail',
  'source',
  'auth',
  'runs',
  'network',
  'task',
  'answered-since',
  'paid-since',
  'has',
  'effect',
  'sort',
]
/** The limit for `--all`; the dump has all listings. */
const MOST_ROWS = 10_000
const ROWS = 10
const NUMBERS = ['max-price-usd', 'min-trust', 'limit', 'offset']
const OPTIONS = {
  ...Object.fromEntries([...TEXTS, ...NUMBERS].map((name) => [name, { type: 'string' }] as const)),
  'paid-only': { type: 'boolean' },
  all: { type: 'boolean' },
} as const

/** `waypost search <words…>`: one or two lines per listing; the service checks the options' values. */
export const runSearch: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, OPTIONS)
  const requested = toRequested(values, positionals)
  const waypost = connect(values.base)
  const printRow = (row: CompactRow) =>
    values.json === true ? printJson(row, 0) : print(toText(row))
  if (values.all === true) {
    if (requested.limit !== undefined)
      throw new UsageFault('expected only one of --all and --limit')
    const { limit: _, ...rest } = requested
    let left = MOST_ROWS
    for await (const row of waypost.results(rest)) {
      printRow(row)
      left -= 1
      if (left === 0) break
    }
    return EXIT.ok
  }
  const answer = await waypost.search({ ...requested, limit: requested.limit ?? ROWS })
  return printRows(answer, answer.results, values.json, toText)
}

/** `waypost find <words…>`: operations to call, three lines each. */
export const runFind: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, OPTIONS)
  if ('sort' in values || values.all === true)
    throw new UsageFault('find takes neither --sort nor --all')
  const { view: _, ...requested } = toRequested(values, positionals)
  const answer = await connect(values.base).operations(requested)
  return printRows(answer, answer.results, values.json, toOperationText)
}

function toOperationText({ listing, operation }: OperationsAnswer['results'][number]): string {
  const { name, method, url, description, price, input, example, bring = [] } = operation
  const place = url ?? operation.command ?? operation.agent_card ?? operation.package ?? ''
  const isRequest = method !== undefined
  const facts = [
    listing.id,
    price === undefined ? '' : `${toPrice(price)} a ${price.per}`,
    listing.auth === 'unknown' ? '' : `auth ${listing.auth}`,
    input === undefined ? '' : `needs ${Object.keys(input).join(', ')}`,
    bring.length === 0 ? '' : `bring ${bring.join(', ')}`,
    isRequest ? '' : [operation.protocol, place].filter(Boolean).join(' '),
  ]
  const what = name ?? (isRequest ? `${method} ${place}` : (listing.name ?? listing.id))
  const sent = example === undefined ? '' : `\n    ${toLine(JSON.stringify(example))}`
  const shown = `${toLine(what)}  ${facts.filter(Boolean).map(toLine).join(' · ')}`
  return `${shown}\n    ${toLine(description ?? '')}${sent}`
}

type Requested = SearchParameters & { view: 'compact' }

/** Any value that is not a number is sent unchanged: the service knows which values it allows. */
function toRequested(values: Record<string, unknown>, words: readonly string[]): Requested {
  const textOf = (name: string) => {
    const value = values[name]
    return typeof value === 'string' ? value : undefined
  }
  return {
    ...Object.fromEntries(TEXTS.map((name) => [name.replaceAll('-', '_'), textOf(name)])),
    ...Object.fromEntries(
      NUMBERS.map((name) => [name.replaceAll('-', '_'), readNumber(name, textOf(name))]),
    ),
    ...(words.length > 0 && { q: words.join(' ') }),
    ...(values['paid-only'] === true && { paid_only: true }),
    view: 'compact',
  }
}

function toText({
  id,
  name,
  summary,
  price,
  rails,
  auth,
  trust,
  call,
  paid = '',
}: CompactRow): string {
  const facts = [
    price === null ? 'price unknown' : toPrice(price),
    rails.join('+'),
    auth === 'unknown' ? '' : `auth ${auth}`,
    trust === null ? '' : `trust ${trust}`,
    call ? 'callable here' : '',
    paid,
  ]
  const first = `${id}  ${name} · ${facts.filter(Boolean).join(' · ')}`
  return `${toLine(first)}\n    ${toLine(summary)}`
}

function toPrice({ min_usd, max_usd }: { min_usd: number; max_usd: number }): string {
  return min_usd === max_usd ? `$${min_usd}` : `$${min_usd}–$${max_usd}`
}

/** `waypost show <id>`: the listing; `--kit`: how to call it; `--snippet`: only code, for a pipe. */
export const runShow: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    kit: { type: 'boolean' },
    snippet: { type: 'string' },
  })
  const id = readSubject(positionals, 'id')
  const waypost = connect(values.base)
  const show = <Found>(found: Found, toShown: (found: Found) => string) =>
    values.json === true ? printJson(found) : print(toShown(found))
  if (values.snippet !== undefined) print(findSnippet(await waypost.kit(id), values.snippet))
  else if (values.kit === true) show(await waypost.kit(id), toKitText)
  else show(await waypost.listing(id), toListingText)
  return EXIT.ok
}

function findSnippet({ id, snippets }: Kit, name: string): string {
  const code = Object.hasOwn(snippets, name) ? snippets[name] : undefined
  if (code === undefined)
    throw new UsageFault(
      `--snippet: ${id} has ${Object.keys(snippets).join(', ') || 'none'}, got ${JSON.stringify(name)}`,
    )
  return code
}

function toListingText(listing: Listing): string {
  const { trust, pricing, operations, tools, skills, notices, known } = listing
  return lines([
    `${listing.name} (${listing.id}, ${listing.kind})`,
    listing.summary,
    listing.url,
    `cost: ${listing.cost}; price: ${pricing.model === 'unknown' ? 'unknown' : `$${pricing.min_usd} to $${pricing.max_usd} a call`}; auth: ${listing.auth.type}`,
    trust.score === null
      ? `trust: no score (${trust.evidence})`
      : `trust: ${trust.score} of 100, ${trust.verified_buyers_30d} buyers and ${trust.settlements_30d} settlements in 30 days`,
    // Directories running former versions have no `known`.
    ...Object.values(known ?? {}).flatMap((fact) => fact?.text ?? []),
    ...operations.map(({ method, url, description }) => `  ${method} ${url}  ${description ?? ''}`),
    ...tools.map(({ name, description }) => `  tool ${name}  ${description}`),
    ...skills.map(({ name, description }) => `  skill ${name}  ${description}`),
    ...notices.map(({ id, note }) => `notice ${id}: ${note}`),
    ...(listing.buy === 'relay_x402' ? [`callable here: waypost call ${listing.id}`] : []),
  ])
}

function toKitText({ name, id, url, auth, invoke, operations, payment, snippets }: Kit): string {
  return lines([
    `${name} (${id})`,
    url,
    `auth: ${auth.type}${auth.name === undefined ? '' : ` in ${auth.in} ${auth.name}`}`,
    ...(payment.rails.length === 0 ? [] : [`pays by ${payment.rails.join(', ')}`]),
    ...operations.map(({ example: { method, url, body } }) =>
      body === undefined ? `  ${method} ${url}` : `  ${method} ${url}  ${JSON.stringify(body)}`,
    ),
    ...invoke.flatMap((entry) => ('transport' in entry ? [`  ${JSON.stringify(entry)}`] : [])),
    `snippets: ${Object.keys(snippets).join(', ') || 'none'} (waypost show ${id} --snippet NAME)`,
  ])
}

function lines(texts: readonly string[]): string {
  return texts
    .map((text) => (text.startsWith('  ') ? `  ${toLine(text)}` : toLine(text)))
    .join('\n')
}
