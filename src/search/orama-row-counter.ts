import type { AnyDocumentStore, IDocumentsStore } from '@orama/orama'

/**
 * Orama's document slot for a build: it only counts. The documents are in the caller's hands, and a
 * second copy of a million of them would be most of the build's memory.
 */
export function createRowCounter(): IDocumentsStore<AnyDocumentStore & { count: number }> {
  const none = () => undefined
  return {
    create: () => ({ docs: {}, count: 0 }),
    store(counter) {
      counter.count += 1
      return true
    },
    count: (counter) => counter.count,
    get: none,
    getMultiple: (_counter, ids) => ids.map(none),
    getAll: () => ({}),
    remove: () => false,
    load: () => ({ docs: {}, count: 0 }),
    save() {
      throw new Error('The row counter keeps no documents to save.')
    },
  }
}
