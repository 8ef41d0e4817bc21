import type { Kit, Listing } from '../src/answers.ts'
import { EXIT, type Run, readArguments, readSubject, UsageFault } from './command-line.ts'
import { printJson, toLine, toPrintable } from './printable.ts'

/** `waypost show <id>`: the listing; `--kit` how to call it; `--snippet` only code, to be piped. */
export const runShow: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    kit: { type: 'boolean' },
    snippet: { type: 'string' },
  })
  const id = readSubject(positionals, 'id')
  const waypost = connect(values.base)
  const print = <Found>(found: Found, toText: (found: Found) => string) =>
    values.json === true ? printJson(found) : console.log(toText(found))
  if (values.snippet !== undefined)
    console.log(toPrintable(findSnippet(await waypost.kit(id), values.snippet)))
  else if (values.kit === true) print(await waypost.kit(id), toKitText)
  else print(await waypost.listing(id), toListingText)
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
  const { trust, pricing, operations, tools, skills, notices } = listing
  return lines([
    `${listing.name} (${listing.id}, ${listing.kind})`,
    listing.summary,
    listing.url,
    `cost: ${listing.cost}; price: ${pricing.model === 'unknown' ? 'unknown' : `$${pricing.min_usd} to $${pricing.max_usd} a call`}; auth: ${listing.auth.type}`,
    trust.score === null
      ? `trust: no score (${trust.evidence})`
      : `trust: ${trust.score} of 100, ${trust.verified_buyers_30d} buyers and ${trust.settlements_30d} settlements in 30 days`,
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
