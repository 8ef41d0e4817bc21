import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Waypost } from '../src/waypost.ts'

export const HELP = `Usage: waypost <command> [options]

  search <words…>   find services: --kind --category --rail --source --auth --runs --has
                    --max-price-usd N --min-trust N --paid-only --answered-since DAY
                    --paid-since DAY --sort --limit N --offset N --all
  find <words…>     what to call for a task: address, input, price, example; same filters
  show <id>         what is known about a listing; --kit how to call it, --snippet NAME ready code
  call <id>         one call through the relay: --endpoint PATH -X METHOD -H 'Name: value' -d BODY
                    --info only checks whether it can be called;
                    --wallet FILE --max-usd N pays if the seller requires it;
                    --max-bytes N limits the answer to N bytes; by default 64 MiB
  tasks             tasks that several sellers can do
  plan <task> JSON  the sellers to call, in order, with their requests:
                    --max-price-usd N --rail --network --limit N
  do <task> JSON    gets it done: calls the first seller, pays within the budget, checks the
                    answer, tries the next if one fails or charges more than quoted;
                    no payee and no operator is paid twice: --wallet FILE --max-usd N for all
                    attempts together; --rail --network --max-bytes N
  pin <ids…>        record in waypost.lock what you rely on: digest, hosts, payees, price;
                    --only CALL pins some calls of one listing;
                    --update pins what changed and shows it
  check             what changed since it was pinned; exit 1 if anything did
                    call, pin and check take --lock FILE instead of waypost.lock
  lint <url>        what a service answers and what to change; --as x402|mpp|mcp|a2a|http,
                    --format github|sarif for a workflow's log or a code scanner;
                    --file PATH is the file in the repository that SARIF points to
  recompute <id>    the trust score, computed from the published payments alone, next to the score shown
  verify <receipt>  checks that a receipt is signed and in its day's published file;
                    --secret=S --answer FILE also checks that it is for this answer
  add <url>         propose a service to the directory: --note --email

  --base URL        the directory; else WAYPOST_URL, else http://localhost:4321
  --json            the service's own JSON

Exit: 0 done, 1 refused or problems found, 2 the command was wrong, 3 not reached.`

export const EXIT = { ok: 0, refused: 1, usage: 2, unreachable: 3 } as const

type Connect = (base: string | undefined) => Waypost
export type Run = (args: readonly string[], connect: Connect) => Promise<number>

/** Control, format and direction characters: what moves a terminal's cursor or hides text. */
const NOT_PRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Prints sellers' texts safely for a terminal: line breaks stay, nothing else moves the cursor.
 * Every command prints through this function or `printJson`.
 */
export function print(...texts: readonly (string | readonly string[])[]): void {
  for (const line of texts.flat()) console.log(toPrintable(line))
}

/** Prints texts to stderr, so that they are not part of the result. */
export function printNote(...texts: readonly (string | readonly string[])[]): void {
  for (const line of texts.flat()) console.error(toPrintable(line))
}

/** @example toPrintable('a\u001b[2Jb\n') → 'a [2Jb\n' */
export function toPrintable(text: string): string {
  return text.toWellFormed().replace(NOT_PRINTABLE, (character) => {
    return character === '\n' || character === '\t' ? character : ' '
  })
}

/** The text on one line. */
export function toLine(text: string): string {
  return toPrintable(text).replace(/\s+/g, ' ').trim()
}

/** Prints JSON for programs, also safe for a terminal. */
export function printJson(value: unknown, indent: number | undefined = 2): void {
  printJsonText(JSON.stringify(value, null, indent))
}

/** Prints JSON with unprintable characters as escapes, which mean the same and move no cursor. */
export function printJsonText(json: string): void {
  const escaped = json.replaceAll('\r', '').replace(NOT_PRINTABLE, (character) => {
    const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    return /[\n\t]/.test(character)
      ? character
      : units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  })
  console.log(escaped)
}

/** Prints an answer's rows or, with `--json`, the answer itself. */
export function printRows<Row>(
  answer: { notes: readonly string[]; total: number },
  rows: readonly Row[],
  isJson: boolean | undefined,
  toText: (row: Row) => string,
): number {
  if (isJson === true) printJson(answer)
  else print(rows.map(toText), answer.notes.map(toLine), `${rows.length} of ${answer.total}`)
  return EXIT.ok
}

/** The command itself is wrong; the message says what is wrong, and what would be right. */
export class UsageFault extends Error {}

/** @throws UsageFault naming the option that is unknown or has no value */
export function readArguments<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
) {
  const known = { base: { type: 'string' }, json: { type: 'boolean' }, ...options } as const
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: known })
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error))
  }
}

/** A command's only argument. @param what the argument's name in the usage */
export function readSubject(positionals: readonly string[], what: string): string {
  const [subject, ...others] = positionals
  if (subject === undefined || others.length > 0)
    throw new UsageFault(`expected one ${what}, got ${positionals.length}`)
  return subject
}

/** @throws UsageFault if the text is not a number of at least 0 */
export function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}(?:\.\d{1,9})?$/.test(text))
    throw new UsageFault(`--${name}: expected a number such as 0.05, got ${JSON.stringify(text)}`)
  return Number(text)
}

/** @throws UsageFault naming the valid values */
export function readChoice<const Choice extends string>(
  name: string,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((each) => each === text)
  if (text !== undefined && choice === undefined)
    throw new UsageFault(
      `--${name}: expected one of ${choices.join(', ')}, got ${JSON.stringify(text)}`,
    )
  return choice
}
