import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSearch } from '../../functions/search/search.ts'
import { HOSTILE_QUERIES } from './hostile-queries.ts'
import { decode, indexOf, sampleDocument, textsOf } from './search-samples.ts'

const index = indexOf(
  Array.from({ length: 80 }, (_, at) =>
    sampleDocument({ id: `mcp.n${at}`, name: `Weather ${at} “é”`, summary: 'Forecasts.' }),
  ),
)
const search = createSearch({
  index: () => index,
  texts: () => textsOf(index),
  randomUuid: randomUUID,
})

test.each(Object.entries(HOSTILE_QUERIES))('%s is answered or refused', (_name, rawQuery) => {
  const reply = search(rawQuery)
  if (reply.status === 200)
    expect(JSON.parse(decode(reply.body)).results.length).toBeLessThanOrEqual(50)
  else expect(reply.problems.length).toBeGreaterThan(0)
})
