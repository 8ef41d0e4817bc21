import type { ArgumentSlot } from '../../src/domain/arguments/argument-slots.ts'
import { fillArguments, type ShownExample } from '../../src/domain/arguments/fill-arguments.ts'
import type { QuestionFacts } from '../../src/domain/arguments/question-facts.ts'
import type { OperationsAnswer } from '../../src/domain/search/search-response.ts'
import { readBody } from '../../src/search/index/index-rows.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'

/** A row, and the listing it is of. */
export interface FoundRow extends RankedRow {
  listing: string
}

/** A row as the index has it. */
export type Stored = Omit<OperationsAnswer['results'][number], 'relevance'> & {
  /** Where its example may be filled from the question. */
  slots: readonly ArgumentSlot[]
  /** The example with what was asked in place of its own values. */
  filled: () => ShownExample | undefined
}
export type ReadRow = (row: number) => Stored

/** Reads rows for one question, each once. */
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
  const stored = JSON.parse(decoder.decode(readBody(index, 'organic', row)))
  const { listing, digest, operation, slots = [] }: Omit<Stored, 'filled'> = stored
  const { example, url = '' } = operation
  let shown = example
  let isFilled = example === undefined || facts === null || slots.length === 0
  const filled = () => {
    if (!isFilled && shown !== undefined && facts !== null)
      shown = fillArguments(url, shown, slots, facts)
    isFilled = true
    return shown
  }
  return { listing, operation, digest, slots, filled }
}

const decoder = new TextDecoder()
