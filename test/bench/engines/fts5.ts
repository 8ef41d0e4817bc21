import { rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Engine, searchedFields } from './engine.ts'

const TOKENIZER = 'porter unicode61 remove_diacritics 2'

/** SQLite's full-text index, without a copy of the texts, ranked with the same weights. */
export const fts5: Engine = {
  name: 'fts5',
  build(documents, file) {
    rmSync(file, { force: true })
    const started = performance.now()
    const database = new DatabaseSync(file)
    database.exec(
      `CREATE VIRTUAL TABLE listings USING fts5(name, tags, categories, summary, content='', tokenize='${TOKENIZER}')`,
    )
    database.exec('BEGIN')
    const insert = database.prepare(
      'INSERT INTO listings(rowid, name, tags, categories, summary) VALUES (?, ?, ?, ?, ?)',
    )
    let row = 0
    for (const document of documents) {
      const { name, tags, categories, summary } = searchedFields(document)
      insert.run(row, name, tags, categories, summary)
      row += 1
    }
    database.exec("COMMIT; INSERT INTO listings(listings) VALUES ('optimize'); VACUUM")
    database.close()
    return { buildMs: performance.now() - started, indexBytes: statSync(file).size }
  },
  open(file) {
    const database = new DatabaseSync(file, { readOnly: true })
    const select = database.prepare(
      'SELECT rowid FROM listings WHERE listings MATCH ? ORDER BY bm25(listings, 3, 2, 2, 1) LIMIT ?',
    )
    return (q, limit) => {
      const words = (q.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${word}"`).join(' OR ')
      return words === '' ? [] : select.all(words, limit).map(({ rowid }) => Number(rowid))
    }
  },
}
