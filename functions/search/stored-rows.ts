import type { ArgumentSlot } from '../../src/domain/arguments/argument-slots.ts'
import { fillArguments, type ShownExample } from '../../src/domain/arguments/fill-arguments.ts'
import type { QuestionFacts } from '../../src/domain/arguments/question-facts.ts'
import type { OperationsAnswer } from '../../src/domain/search/search-response.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { readBody } from '../../src/search/index/load-index.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'

/** A row and its listing. */
export interface FoundRow extends RankedRow {
  listing: string
}

/** A row as stored in the index. */
export type Stored = Omit<OperationsAnswer['results'][number], 'relevance'> & {
  /** Slots of its example that can be filled from the query. */
  slots: readonly ArgumentSlot[]
  /** The example with values from the query in place of its own. */
  filled: () => ShownExample | undefined
}
export type ReadRow = (row: number) => Stored

/** Reads rows for one query, each once. */
export function createRowReader(index: SearchIndex, facts: QuestionFacts | null): ReadRow {
  const known = new Map<number, Stored>()
  return (row) => {
    const read = known.get(row) ?? readStored(index, row, facts)
    known.set(row, read)
    return read
  }
}

function readStored(index: SearchIndex, row: number, facts: QuestionFacts | null): Stored {
  // Typed `any` by `JSON.parse`: the build wrote these bytes.
  const stored = JSON.parse(decoder.decode(readBody(index, row)))
  const { listing, digest, operation, slots = [] }: Omit<Stored, 'filled'> = stored
  const { example, url = '' } = operation
  let shown = example
  let isFilled = example === undefined || facts === null || slots.length === 0
  const filled = () => {
    if (!isFilled && shown !== undefined && facts !== null)
      shown = fillArguments(url, shown, slots, facts)
    isFilled = true
    // A call without any argument needs no example.
    return shown !== undefined && Object.keys(shown).length > 0 ? shown : undefined
  }
  return { listing, operation, digest, slots, filled }
}

const decoder = new TextDecoder()
